import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { testChainStakes } from "../testing/chain-stakes-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testChainStakes(async () => new StoreFolder(await cluster.newDatabase()));
