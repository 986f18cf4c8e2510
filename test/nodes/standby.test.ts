/**
 * Three servers on a primary and its standby, by streaming replication. Under load the primary is killed and the standby
 * promoted; the nodes have the address of both.
 */
import { afterEach, expect, test } from "bun:test";
import { audit } from "../../src/ledger/index.ts";
import { createAccount, credit, openAdmin } from "../../src/store/admin.ts";
import { answered, BODY, createTally, hammer, NodeFleet, PRICE_NANO, type Tally } from "../support/node-fleet.ts";
import { once, type PostgresCluster, type Standby, startPostgres, startStandby } from "../support/postgres-cluster.ts";
import { type SlowProxy, startSlowProxy } from "../support/slow-proxy.ts";
import { until } from "../support/until.ts";

const fleet = NodeFleet.withoutStore();
const stops: (() => unknown)[] = [];

afterEach(async () => {
	for (const stop of stops.splice(0).reverse()) await stop();
});

interface Pair {
	readonly primary: PostgresCluster;
	readonly standby: Standby;
	/** What the standby receives comes through it. */
	readonly replication: SlowProxy;
	/** Address of the books on each alone. */
	readonly on: (server: PostgresCluster) => string;
}

/** Starts both servers, and makes them the store of the fleet. */
async function startPair(): Promise<Pair> {
	const primary = await startPostgres();
	stops.push(() => primary.stop());
	const replication = await startSlowProxy(primary.port);
	stops.push(() => replication.stop());
	const url = await primary.newDatabase();
	const standby = await startStandby(primary, "standby", replication.port);
	stops.push(() => standby.stop());
	await until(async () => (await replicas(primary, "streaming")) === 1, "the standby streams");
	const on = (server: PostgresCluster) => url.replace(`:${primary.port}/`, `:${server.port}/`);
	fleet.on(`${url.replace(`:${primary.port}/`, `:${primary.port},127.0.0.1:${standby.port}/`)}?target_session_attrs=read-write`);
	return { primary, standby, replication, on };
}

const replicas = (primary: PostgresCluster, state: "streaming" | "sync") =>
	once(primary.adminUrl, async (sql) => {
		const column = state === "sync" ? "sync_state" : "state";
		return (await sql.unsafe(`SELECT 1 FROM pg_stat_replication WHERE ${column} = $1`, [state])).length;
	});

const postsOn = (url: string): Promise<string[]> =>
	once(url, async (sql) => [...(await sql.unsafe("SELECT request_id FROM posts"))].map((row) => row.request_id));

/** Waits until each answer is a charge, and checks that the books hold nothing else. */
async function allBooked(tally: Tally, before = 0): Promise<void> {
	const all = new Set(tally.served);
	await until(async () => {
		const booked = new Set(await fleet.bookedIds().catch(() => []));
		return [...all].every((id) => booked.has(id));
	}, "every acknowledged answer is booked");
	const booked = await fleet.bookedIds();
	expect(new Set(booked).size).toBe(booked.length);
	const { posts, charges, overrun } = await fleet.sums();
	expect({ posts, charges, overrun }).toEqual({
		posts: booked.length * PRICE_NANO,
		charges: booked.length * PRICE_NANO,
		overrun: 0,
	});
	expect(await fleet.balance()).toBe((REQUESTS - booked.length) * PRICE_NANO + before);
	expect((await audit(fleet.admin.db)).findings).toEqual([]);
}

const REQUESTS = 1_000_000;

test.each(["on", "remote_apply"])(
	"with a synchronous standby (%s) no acknowledged charge is lost or doubled, and a replaced primary is not written to",
	async (commit) => {
		const { primary, standby, on } = await startPair();
		await once(primary.adminUrl, async (sql) => {
			await sql.unsafe("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
			await sql.unsafe(`ALTER SYSTEM SET synchronous_commit = ${commit}`);
			await sql.unsafe("SELECT pg_reload_conf()");
		});
		await until(async () => (await replicas(primary, "sync")) === 1, "the standby is synchronous");
		const nodes = await fleet.start(3, REQUESTS);
		const tally = createTally();
		let running = true;
		const load = hammer(nodes, 24, tally, () => running);
		await until(() => tally.served.length > 200);
		await primary.kill();
		await standby.promote();
		const promoted = tally.served.length;
		await until(() => tally.served.length > promoted + 200, "requests go on");
		running = false;
		await load;
		await allBooked(tally);

		await primary.start();
		const old = (await postsOn(on(primary))).length;
		const [{ follows }] = await once(on(primary), (sql) => sql.unsafe("SELECT pg_is_in_recovery() AS follows"));
		expect(follows).toBe(false);
		const [first, second] = nodes;
		if (first === undefined || second === undefined) throw new Error("no nodes");
		await once(on(standby), (sql) =>
			sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'turnpike%'"),
		);
		await until(async () => (await first.chat(BODY)).status === 200);
		second.kill("SIGKILL");
		await second.exited;
		await answered(await fleet.startAgain(second, REQUESTS));
		await createAccount(fleet.admin, { name: "made after the failover" });
		expect((await postsOn(on(primary))).length).toBe(old);
		const made = await once(on(primary), (sql) => sql.unsafe("SELECT 1 FROM accounts WHERE name = 'made after the failover'"));
		expect(made.length).toBe(0);
		expect((await audit(fleet.admin.db)).findings).toEqual([]);
	},
);

test("with an asynchronous standby what it lacks is booked again from the nodes' journals, and credits and keys of that time are lost", async () => {
	const { primary, standby, replication, on } = await startPair();
	const nodes = await fleet.start(3, REQUESTS);
	const tally = createTally();
	let running = true;
	const load = hammer(nodes, 24, tally, () => running);
	await until(() => tally.served.length > 200);
	replication.silent = true;
	const received = tally.served.length;
	await until(() => tally.served.length > received + 200);
	const accountId = await fleet.accountId();
	const ofPrimary = openAdmin(on(primary));
	stops.push(() => ofPrimary.close());
	const lost = { accountId, amount: "7", reference: "lost-with-the-failover" };
	await credit(ofPrimary, lost);
	const confirmed = await postsOn(on(primary));
	const acknowledged = [...tally.served];
	await primary.kill();
	replication.stop();
	const kept = new Set(await postsOn(on(standby)));
	// The primary had confirmed more than the standby received.
	expect(confirmed.filter((id) => !kept.has(id)).length).toBeGreaterThan(100);
	expect(acknowledged.some((id) => !kept.has(id))).toBe(true);
	await standby.promote();
	const promoted = tally.served.length;
	await until(() => tally.served.length > promoted + 200, "requests go on");
	running = false;
	await load;
	await allBooked(tally);
	const booked = new Set(await fleet.bookedIds());
	expect(confirmed.filter((id) => !booked.has(id))).toEqual([]);
	// The reference is free again: the operator repeats the credit.
	await credit(fleet.admin, lost);
	expect(await fleet.balance()).toBe((REQUESTS - booked.size) * PRICE_NANO + 7_000_000_000);
	expect((await audit(fleet.admin.db)).findings).toEqual([]);
});
