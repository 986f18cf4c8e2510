import { afterAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { testBooks } from "./testing/budgets-contract.ts";

let cluster: PostgresCluster | null = null;

testBooks(async () => {
	cluster = await startPostgres();
	return cluster.newDatabase();
});

afterAll(() => cluster?.stop());
