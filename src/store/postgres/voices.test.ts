import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import { testVoices } from "../testing/voices-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testVoices(async () => new BooksFolder(await cluster.newDatabase()));
