import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import { testErasure } from "../testing/erase-contract.ts";
import { testRetention } from "../testing/retention-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testRetention(async () => new BooksFolder(await cluster.newDatabase()));
testErasure(async () => new BooksFolder(await cluster.newDatabase()));
