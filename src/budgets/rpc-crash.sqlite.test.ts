import { BooksFolder } from "../store/testing/books-folder.ts";
import { testRpcCrashes } from "./rpc-crash-contract.test-support.ts";

testRpcCrashes(() => new BooksFolder());
