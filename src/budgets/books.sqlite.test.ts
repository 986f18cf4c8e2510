import { testBudgets } from "./testing/budgets-contract.ts";

testBudgets(async () => undefined);
