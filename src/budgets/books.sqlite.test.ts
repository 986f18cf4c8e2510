import { testBooks } from "./testing/budgets-contract.ts";

testBooks(async () => undefined);
