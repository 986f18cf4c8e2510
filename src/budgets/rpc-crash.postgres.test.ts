import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { testRpcCrashes } from "./testing/rpc-crash-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testRpcCrashes(async () => new StoreFolder(await cluster.newDatabase()));
