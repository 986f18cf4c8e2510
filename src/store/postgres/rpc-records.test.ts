import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { testRpcRecords } from "../testing/rpc-records-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testRpcRecords(async () => new StoreFolder(await cluster.newDatabase()));
