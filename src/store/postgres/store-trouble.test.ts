/**
 * A store that restarts, is unreachable for long, or fails over to a copy without the last seconds: nothing is lost
 * or doubled.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once, type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { startSlowProxy } from "../../../test/support/slow-proxy.ts";
import { until } from "../../../test/support/until.ts";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, samplePost } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano } from "../../ledger/index.ts";
import { type OpenedStore, type OpenStoreOptions, openStore, type StoreChange } from "../index.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { reap } from "./epochs.ts";

const HUNDRED = 100 * NANO_PER_USD;
let cluster: PostgresCluster;
let books: StoreFolder;
let accountId: string;
const opened: OpenedStore[] = [];

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

beforeEach(async () => {
	books = new StoreFolder(await cluster.newDatabase());
	accountId = await books.account();
});

afterEach(async () => {
	for (const { store } of opened.splice(0)) await store.close().catch(() => {});
	await books.remove();
});

async function open(options: Partial<OpenStoreOptions> = {}): Promise<OpenedStore> {
	const journal = { segmentBytes: 256 * 1024, minFreeDiskBytes: 0, ...options.journal };
	const result = await openStore({ dataDir: books.dir, postgres: books.place, callPatienceMs: 500, ...options, journal });
	opened.push(result);
	return result;
}

const lease = ({ store }: OpenedStore, amount = HUNDRED) => store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(amount) });
const postOf = (number: number) => samplePost(requestId(number), accountId);
const bookedIds = async () => {
	const rows = await books.admin().db.selectFrom("posts").select("request_id").orderBy("id").execute();
	return rows.map((row) => row.request_id);
};
const findings = async () => (await books.audit()).findings;

async function faultOf(promise: Promise<unknown>): Promise<Error> {
	return promise.then(
		() => new Error("it did not fail"),
		(error: Error) => error,
	);
}

test("a crash of the store: answers go on as by power, calls say 503, and all is booked once when it is back", async () => {
	const node = await open();
	await lease(node);
	await node.journal.append(postOf(0));
	await cluster.crash();
	const durable = Array.from({ length: 20 }, (_, number) => node.journal.append(postOf(number + 1)));
	await Promise.all(durable);
	expect(node.journal.appliedSeq).toBeLessThan(node.journal.writtenSeq);
	expect(node.journal.workRefusal()).toBeNull();
	expect((await faultOf(node.store.loadAccount(accountId))).name).toBe("StoreUnavailableError");
	await cluster.start();
	await node.journal.append(postOf(99));
	await until(() => node.journal.appliedSeq === node.journal.writtenSeq);
	expect(new Set(await bookedIds())).toEqual(new Set([...Array(21).keys(), 99].map(requestId)));
	expect((await node.store.loadAccount(accountId))?.id).toBe(accountId);
	expect(await findings()).toEqual([]);
});

test.each([
	["the grace", "grace", { journal: { graceMs: 500 } }],
	["the right to spend", "term", { termMs: 3_000 }],
] as const)("an outage past %s takes no new work, and the node goes on by itself", async (_, reason, options) => {
	const node = await open(options);
	await lease(node);
	await cluster.crash();
	await node.journal.append(postOf(1));
	await until(() => node.journal.workRefusal()?.reason === reason);
	// Running requests post all the same.
	await node.journal.append(postOf(2));
	await cluster.start();
	await until(() => node.journal.workRefusal() === null);
	await node.store.settled();
	expect(await bookedIds()).toEqual([1, 2].map(requestId));
	expect(await findings()).toEqual([]);
});

test("batches that race with restarts of the store are booked once", async () => {
	const node = await open();
	await lease(node);
	let posted = 0;
	let running = true;
	const posting = (async () => {
		while (running) {
			await Promise.all(Array.from({ length: 10 }, () => node.journal.append(postOf(posted++))));
			await Bun.sleep(1);
		}
	})();
	for (let round = 0; round < 3; round++) {
		const before = posted;
		await until(() => posted >= before + 50);
		await cluster.crash();
		await cluster.start();
	}
	running = false;
	await posting;
	await until(() => node.journal.appliedSeq === node.journal.writtenSeq);
	expect(new Set(await bookedIds())).toEqual(new Set(Array.from({ length: posted }, (_, number) => requestId(number))));
	expect((await bookedIds()).length).toBe(posted);
	const [usd] = await node.store.budgets(accountId, SAMPLE_DAY);
	expect(usd?.balance).toBe(nano(HUNDRED - posted * SAMPLE_PRICE));
	expect(await findings()).toEqual([]);
});

/** Fails over to a replica that lacks what `meanwhile` does. */
async function failOver(meanwhile: () => Promise<void>): Promise<void> {
	const name = new URL(books.place).pathname.slice(1);
	const cut = (sql: import("bun").SQL) =>
		sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
	// A copy plays the replica: it lacks what comes after it. Nobody may be connected while it is made.
	await once(cluster.adminUrl, async (sql) => {
		await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
		await cut(sql);
		await sql.unsafe(`CREATE DATABASE ${name}_replica TEMPLATE ${name}`);
		await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
	});
	await meanwhile();
	await once(cluster.adminUrl, async (sql) => {
		await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
		await cut(sql);
		await sql.unsafe(`ALTER DATABASE ${name} RENAME TO ${name}_lost`);
		await sql.unsafe(`ALTER DATABASE ${name}_replica RENAME TO ${name}`);
		await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
	});
}

async function postAll(node: OpenedStore, from: number, to: number): Promise<void> {
	for (let number = from; number < to; number++) await node.journal.append(postOf(number));
	await until(() => node.journal.appliedSeq === node.journal.writtenSeq);
}

const idsTo = (end: number) => Array.from({ length: end }, (_, number) => requestId(number));

test("after a failover that lost the last batches the node ships them again from what it kept", async () => {
	const node = await open();
	await lease(node);
	await postAll(node, 0, 5);
	await failOver(() => postAll(node, 5, 12));
	await node.journal.append(postOf(12));
	await until(async () => (await bookedIds()).length === 13);
	expect(await bookedIds()).toEqual(idsTo(13));
	expect(await findings()).toEqual([]);
});

test("a node that has nothing more to ship learns from its heartbeat what a failover lost, and ships it again", async () => {
	const node = await open({ termMs: 6_000 });
	await lease(node);
	await postAll(node, 0, 5);
	await failOver(() => postAll(node, 5, 12));
	const booked = () => once(books.place, (sql) => sql.unsafe("SELECT 1 FROM posts"));
	await until(async () => (await booked()).length === 12);
	expect(await bookedIds()).toEqual(idsTo(12));
	expect(await findings()).toEqual([]);
});

test("a stop ships what a failover lost before the leases go back", async () => {
	const node = await open();
	await lease(node);
	await postAll(node, 0, 5);
	await failOver(() => postAll(node, 5, 12));
	await node.store.close();
	expect(await bookedIds()).toEqual(idsTo(12));
	expect(await findings()).toEqual([]);
});

test("a node whose term was ended tells that its leases are gone, books its late posts once, and begins anew", async () => {
	const node = await open({ termMs: 3_000 });
	const other = await openStore({
		dataDir: `${books.dir}/other`,
		postgres: books.place,
		termMs: 3_000,
		journal: { segmentBytes: 256 * 1024, minFreeDiskBytes: 0 },
	});
	opened.push(other);
	await lease(node, 60 * NANO_PER_USD);
	const heard: StoreChange[] = [];
	node.store.onChange((change) => heard.push(change));
	await once(books.place, async (sql) => {
		// Between two heartbeats, as for a node that was stopped: reaped before it can renew its term.
		for (let reaped = 0; reaped === 0; ) {
			await sql.unsafe("UPDATE node_terms SET ends_at = now() - interval '1 hour' WHERE node_id = $1", [node.store.node.id]);
			reaped = await reap(sql, 1_000);
		}
	});
	await until(() => heard.some((change) => change.kind === "leases-ended"));
	await node.journal.append(postOf(1));
	await until(() => node.store.node.epoch === 2);
	expect((await lease(other, 90 * NANO_PER_USD)).grants.reduce((sum, grant) => sum + grant.granted, 0)).toBeGreaterThan(0);
	await node.store.settled();
	expect(await bookedIds()).toEqual([requestId(1)]);
	expect(await findings()).toEqual([]);
});

test("a store that is slow is waited for, and one that falls silent is given up until it speaks again", async () => {
	const proxy = await startSlowProxy(cluster.port);
	const url = books.place.replace(`:${cluster.port}/`, `:${proxy.port}/`);
	try {
		const node = await open({ postgres: url, callPatienceMs: 15_000 });
		proxy.delayMs = 250;
		await lease(node);
		await Promise.all([1, 2, 3].map((number) => node.journal.append(postOf(number))));
		await until(() => node.journal.appliedSeq === node.journal.writtenSeq);
		expect(node.journal.workRefusal()).toBeNull();
		proxy.delayMs = 0;
		proxy.silent = true;
		await node.journal.append(postOf(4));
		expect(node.journal.appliedSeq).toBeLessThan(node.journal.writtenSeq);
		proxy.silent = false;
		await until(() => node.journal.appliedSeq === node.journal.writtenSeq);
		expect(await bookedIds()).toEqual([1, 2, 3, 4].map(requestId));
		expect(await findings()).toEqual([]);
	} finally {
		for (const { store } of opened.splice(0)) await store.close().catch(() => {});
		proxy.stop();
	}
});

test("a server on a copy of a data folder ends the older one, whose posts are booked", async () => {
	const copy = mkdtempSync(join(tmpdir(), "turnpike-copy-"));
	const { promise: ended, resolve } = Promise.withResolvers<Error>();
	const node = await open({ termMs: 3_000, onFatal: resolve });
	await lease(node, 50 * NANO_PER_USD);
	await node.journal.append(postOf(1));
	for (const name of ["nodes.json", "journal"]) cpSync(join(books.dir, name), join(copy, name), { recursive: true });
	const second = await openStore({
		dataDir: copy,
		postgres: books.place,
		journal: { segmentBytes: 256 * 1024, minFreeDiskBytes: 0 },
	});
	opened.push(second);
	await node.journal.append(postOf(2));
	expect(await ended).toMatchObject({ code: "NODE_SUPERSEDED" });
	await lease(second, 50 * NANO_PER_USD);
	await second.journal.append(postOf(3));
	expect(new Set(await bookedIds())).toEqual(new Set([1, 2, 3].map(requestId)));
	expect(await findings()).toEqual([]);
	rmSync(copy, { recursive: true, force: true });
});
