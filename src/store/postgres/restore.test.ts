import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { once, type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { until } from "../../../test/support/until.ts";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, samplePost } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano } from "../../ledger/index.ts";
import { type OpenedStore, openStore } from "../index.ts";
import { StoreFolder } from "../testing/store-folder.ts";

let cluster: PostgresCluster;
const open: OpenedStore[] = [];
const folders: StoreFolder[] = [];

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

afterEach(async () => {
	for (const node of open.splice(0)) await node.store.close();
	for (const folder of folders.splice(0)) await folder.remove();
});

async function start(books: StoreFolder): Promise<OpenedStore> {
	const node = await openStore({
		dataDir: books.dir,
		postgres: books.postgres,
		termMs: 3_000,
		journal: { minFreeDiskBytes: 0, segmentBytes: 256 * 1024 },
	});
	open.push(node);
	return node;
}

function createFolder(url: string): StoreFolder {
	const folder = new StoreFolder(url);
	folders.push(folder);
	return folder;
}

/** Ends all sessions on a database and refuses new ones until `work` is done. */
async function alone(name: string, work: (run: (statement: string) => Promise<unknown>) => Promise<void>): Promise<void> {
	await once(cluster.adminUrl, async (sql) => {
		await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
		await sql.unsafe("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", [name]);
		await work((statement) => sql.unsafe(statement));
	});
}

test("nodes on a restored older store book again what their journals have and it lacks: a running one, and one that starts", async () => {
	const url = await cluster.newDatabase();
	const name = new URL(url).pathname.slice(1);
	const [first, second] = [createFolder(url), createFolder(url)];
	const accountId = await first.account();
	let b: OpenedStore;
	const a = await start(first);
	b = await start(second);
	let posted = 0;
	const post = async (node: OpenedStore, count: number) => {
		await node.store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(count * SAMPLE_PRICE) });
		for (let index = 0; index < count; index++) await node.journal.append(samplePost(requestId(++posted), accountId));
	};
	const settled = async (node: OpenedStore) => {
		let fault: unknown;
		await until(
			() =>
				node.store.settled().then(
					() => true,
					(error: unknown) => {
						fault = error;
						return false;
					},
				),
			"the store has all posts",
		).catch((error: Error) => {
			throw new Error(error.message, { cause: fault });
		});
	};
	await post(a, 5);
	await post(b, 5);
	await Promise.all([settled(a), settled(b)]);
	await first.closeAdmins();
	await alone(name, async (run) => {
		await run(`CREATE DATABASE copy_of_${name} TEMPLATE ${name}`);
		await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
	});
	// The nodes reconnect by themselves, and continue.
	await Promise.all([settled(a), settled(b)]);
	await post(a, 7);
	await post(b, 7);
	await Promise.all([settled(a), settled(b)]);
	await b.store.close();
	open.splice(open.indexOf(b), 1);
	await alone(name, async (run) => {
		await run(`DROP DATABASE ${name}`);
		await run(`ALTER DATABASE copy_of_${name} RENAME TO ${name}`);
	});
	b = await start(second);
	expect(b.replayedGroups).toBeGreaterThan(0);
	// The running node learns with its next post what the store lacks.
	await a.journal.append(samplePost(requestId(++posted), accountId));
	await settled(a);
	const admin = first.admin();
	const booked = async () =>
		(await admin.db.selectFrom("posts").select("request_id").execute()).map((row) => row.request_id).sort();
	await until(async () => (await booked()).length >= posted);
	expect(await booked()).toEqual(Array.from({ length: posted }, (_, index) => requestId(index + 1)).sort());
	expect((await first.audit()).findings).toEqual([]);
	const budget = await admin.db.selectFrom("budgets").select("balance").where("source", "=", "usd").executeTakeFirstOrThrow();
	expect(Number(budget.balance)).toBe(100 * NANO_PER_USD - posted * SAMPLE_PRICE);
});
