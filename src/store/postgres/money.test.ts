import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import { testMoney } from "../testing/money-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testMoney(async () => new BooksFolder(await cluster.newDatabase()));
