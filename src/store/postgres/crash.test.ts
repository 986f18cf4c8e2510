import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { testCrashes } from "../testing/crash-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testCrashes(async () => new StoreFolder(await cluster.newDatabase()));
