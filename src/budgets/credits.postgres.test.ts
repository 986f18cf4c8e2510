import { afterAll, afterEach, beforeAll, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { until } from "../../test/support/until.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { creditRequest, testCredits, use } from "./testing/credits-contract.ts";
import { createTestKey, RpcNode } from "./testing/rpc-node.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testCredits(async () => new StoreFolder(await cluster.newDatabase()));

const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

test("what another node used counts on a node where the account is active, without a request waiting for it", async () => {
	const books = new StoreFolder(await cluster.newDatabase());
	ends.push(() => books.remove());
	const { hash } = await createTestKey(books);
	const open = async () => {
		const dataDir = mkdtempSync(join(tmpdir(), "turnpike-node-"));
		const node = await RpcNode.open(books, { dataDir });
		ends.push(async () => {
			await node.close();
			rmSync(dataDir, { recursive: true, force: true });
		});
		return node;
	};
	const here = await open();
	const there = await open();
	const caller = await here.caller(hash);
	const other = await there.caller(hash);
	await use(here, caller, 10, 1_000);
	await use(there, other, 500, 1_000);
	// The account is cached here: later changes come only by the exchange.
	await until(() => {
		try {
			const take = here.credits.take(caller, creditRequest(491, 1_000));
			if (take instanceof Promise) throw new Error("a request waited for the store");
			take.settle(0);
			return false;
		} catch (error) {
			if ((error as { code?: string }).code !== "RATE_LIMIT_EXCEEDED") throw error;
			return true;
		}
	});
	await use(here, caller, 480, 1_000);
	await until(async () => {
		try {
			(await there.credits.take(other, creditRequest(11, 1_000))).settle(0);
			return false;
		} catch {
			return true;
		}
	});
	(await there.credits.take(other, creditRequest(10, 1_000))).settle(0);
});
