/**
 * A store that accepts no writes: its disk is full, it refuses connections, or it is read-only. This passes without
 * an operator.
 */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { once, type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { canMountSmallDisk, mountSmallDisk, type SmallDisk } from "../../../test/support/small-disk.ts";
import { until } from "../../../test/support/until.ts";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, samplePost } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano } from "../../ledger/index.ts";
import { type OpenedStore, openStore } from "../index.ts";
import { StoreFolder } from "../testing/store-folder.ts";

const HUNDRED = 100 * NANO_PER_USD;
const mountable = canMountSmallDisk();
let disk: SmallDisk | null = null;
let cluster: PostgresCluster | null = null;
let books: StoreFolder;
let accountId: string;
let node: OpenedStore;

async function begin(onDisk?: string): Promise<void> {
	cluster ??= await startPostgres({}, onDisk);
	books = new StoreFolder(await cluster.newDatabase());
	accountId = await books.account();
	node = await openStore({
		dataDir: books.dir,
		postgres: books.place,
		callPatienceMs: 300,
		journal: { segmentBytes: 1 << 20, minFreeDiskBytes: 0, graceMs: 500 },
	});
	await node.store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(HUNDRED) });
}

beforeEach(() => {
	disk = null;
});

afterEach(async () => {
	await node.store.close().catch(() => {});
	await books.remove();
	if (disk === null) return;
	await cluster?.stop();
	cluster = null;
	disk.unmount();
});

afterAll(() => cluster?.stop());

async function fault(promise: Promise<unknown>): Promise<Error | null> {
	return promise.then(
		() => null,
		(error: Error) => error,
	);
}

/**
 * Answers go out as with `power` durability, then new work is refused; every post is applied once when the store
 * accepts it again.
 */
async function passes(trouble: () => Promise<void>, end: () => Promise<void>): Promise<void> {
	let posted = 0;
	const post = (count: number) =>
		Promise.all(Array.from({ length: count }, () => node.journal.append(samplePost(requestId(posted++), accountId))));
	await post(5);
	await trouble();
	// The store may have space for a few more, so this continues until it accepts none.
	await until(async () => {
		await post(500);
		return node.journal.workRefusal()?.reason === "grace";
	});
	expect(node.journal.appliedSeq).toBeLessThan(node.journal.writtenSeq);
	expect((await fault(node.store.settled()))?.name).toBe("StoreUnavailableError");
	// Running requests post all the same.
	await post(5);
	await end();
	await until(() => node.journal.workRefusal() === null);
	await until(() => node.journal.appliedSeq === node.journal.writtenSeq);
	const rows = await books.admin().db.selectFrom("posts").select("request_id").execute();
	expect(rows.length).toBe(posted);
	expect(new Set(rows.map((row) => row.request_id)).size).toBe(posted);
	const [usd] = await node.store.budgets(accountId, SAMPLE_DAY);
	expect(usd?.balance).toBe(nano(HUNDRED - posted * SAMPLE_PRICE));
	expect((await books.audit()).findings).toEqual([]);
}

test.skipIf(!mountable)("a store whose disk is full", async () => {
	disk = mountSmallDisk(160);
	await begin(disk?.dir);
	await passes(
		async () => disk?.fill(),
		async () => disk?.empty(),
	);
});

test("a store that lets nobody in", async () => {
	await begin();
	const name = new URL(books.place).pathname.slice(1);
	const let_ = (allowed: boolean) =>
		once(cluster?.adminUrl ?? "", async (sql) => {
			await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`);
			if (!allowed) await sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
		});
	await passes(
		() => let_(false),
		() => let_(true),
	);
});

test("a store that may only be read, as the old primary of a failover", async () => {
	await begin();
	const name = new URL(books.place).pathname.slice(1);
	const readOnly = (value: string) =>
		once(cluster?.adminUrl ?? "", (sql) => sql.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`));
	await passes(
		async () => {
			await readOnly("on");
			await once(cluster?.adminUrl ?? "", (sql) =>
				sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]),
			);
			// The operator's side too has a read-only connection.
			expect(await fault(node.store.admin("sharedSecret", { name: "usage-cursor" }))).not.toBeNull();
		},
		// Earlier connections stay as they are: new ones may write.
		() => readOnly("off"),
	);
	expect(await node.store.admin("sharedSecret", { name: "usage-cursor" })).toBeString();
});
