import { testBooks } from "./books-contract.test-support.ts";

testBooks(async () => undefined);
