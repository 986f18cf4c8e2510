import { BooksFolder } from "./testing/books-folder.ts";
import { testRpcRecords } from "./testing/rpc-records-contract.ts";

testRpcRecords(() => new BooksFolder());
