import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { testErasure } from "../testing/erase-contract.ts";
import { testRetention } from "../testing/retention-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testRetention(async () => new StoreFolder(await cluster.newDatabase()));
testErasure(async () => new StoreFolder(await cluster.newDatabase()));
