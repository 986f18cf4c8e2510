import { testAdminOperations } from "./testing/admin-operations-contract.ts";
import { BooksFolder } from "./testing/books-folder.ts";

testAdminOperations(() => new BooksFolder());
