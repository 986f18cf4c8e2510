import { BooksFolder } from "../testing/books-folder.ts";
import { testRetention } from "../testing/retention-contract.ts";

testRetention(() => new BooksFolder());
