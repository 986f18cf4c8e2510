import { BooksFolder } from "../testing/books-folder.ts";
import { testErasure } from "../testing/erase-contract.ts";
import { testRetention } from "../testing/retention-contract.ts";

testRetention(() => new BooksFolder());
testErasure(() => new BooksFolder());
