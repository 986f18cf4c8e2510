import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { testVoices } from "../testing/voices-contract.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testVoices(async () => new StoreFolder(await cluster.newDatabase()));
