import { testAdmin } from "./testing/admin-contract.ts";
import { BooksFolder } from "./testing/books-folder.ts";

testAdmin(() => new BooksFolder());
