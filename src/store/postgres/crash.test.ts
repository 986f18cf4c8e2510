import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import { testCrashes } from "../testing/crash-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testCrashes(async () => new BooksFolder(await cluster.newDatabase()));
