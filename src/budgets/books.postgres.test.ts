import { afterAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { testBooks } from "./books-contract.test-support.ts";

let cluster: PostgresCluster | null = null;

testBooks(async () => {
	cluster = await startPostgres();
	return cluster.newDatabase();
});

afterAll(() => cluster?.stop());
