import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { BooksFolder } from "../store/testing/books-folder.ts";
import { testRpcCrashes } from "./rpc-crash-contract.test-support.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testRpcCrashes(async () => new BooksFolder(await cluster.newDatabase()));
