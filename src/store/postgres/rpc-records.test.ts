import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import { testRpcRecords } from "../testing/rpc-records-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testRpcRecords(async () => new BooksFolder(await cluster.newDatabase()));
