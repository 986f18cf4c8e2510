import { BooksFolder } from "./testing/books-folder.ts";
import { testCrashes } from "./testing/crash-contract.ts";

testCrashes(() => new BooksFolder());
