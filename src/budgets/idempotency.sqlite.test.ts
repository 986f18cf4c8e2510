import { BooksFolder } from "../store/testing/books-folder.ts";
import { testIdempotency } from "./idempotency-contract.test-support.ts";

testIdempotency(() => new BooksFolder());
