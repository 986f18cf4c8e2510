import { afterAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { testBudgets } from "./testing/budgets-contract.ts";

let cluster: PostgresCluster | null = null;

testBudgets(async () => {
	cluster = await startPostgres();
	return cluster.newDatabase();
});

afterAll(() => cluster?.stop());
