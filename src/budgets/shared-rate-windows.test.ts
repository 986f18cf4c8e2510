/** Minute windows of several nodes, on a real PostgreSQL. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { once, type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { until } from "../../test/support/until.ts";
import type { MinuteAnswer, MinuteExchange, SharedMinutes } from "../store/minutes.ts";
import { startEpoch } from "../store/postgres/epochs.ts";
import { migrate } from "../store/postgres/migrate.ts";
import { PostgresMinutes } from "../store/postgres/postgres-minutes.ts";
import { PrimaryFinder } from "../store/postgres/primary.ts";
import { type Clock, ManualClock, systemClock, systemTimers } from "../telemetry/clock.ts";
import type { RateLimit, RateState } from "./port.ts";
import { SharedRateWindows } from "./shared-rate-windows.ts";
import { refused } from "./testing/test-node.ts";

let cluster: PostgresCluster;
let url: string;
const closing: (() => void)[] = [];

/** One node's access to the store, which the test can count, delay and cut. */
class Way implements SharedMinutes {
	readonly #store: PostgresMinutes;
	exchanges = 0;
	cut = false;
	held: Promise<void> = Promise.resolve();

	constructor() {
		this.#store = new PostgresMinutes(new PrimaryFinder(url, systemTimers), systemTimers);
	}

	async exchange(exchange: MinuteExchange): Promise<MinuteAnswer> {
		this.exchanges++;
		await this.held;
		if (this.cut) throw new Error("the store is away");
		return this.#store.exchange(exchange);
	}

	close(): Promise<void> {
		return this.#store.close();
	}
}

interface Node {
	readonly way: Way;
	readonly rates: SharedRateWindows;
}

function node(clock: Clock = systemClock): Node {
	const way = new Way();
	const rates = new SharedRateWindows(way, { clock, timers: systemTimers }, 1_000);
	closing.push(() => {
		rates.close();
		void way.close();
	});
	return { way, rates };
}

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

beforeEach(async () => {
	url = await cluster.newDatabase();
	await once(url, async (sql) => {
		await migrate(sql);
		for (const id of ["a", "b", "c"]) await startEpoch(sql, { id: `node_${id}`, epoch: 0, appliedSeq: 0 }, 600_000);
	});
});

afterEach(() => {
	for (const close of closing.splice(0)) close();
});

/** Returns true if the request was admitted; any error but a 429 fails the test. */
async function passes({ rates }: Node, limit: RateLimit, tokens = 0, subject = "m"): Promise<boolean> {
	try {
		await rates.take("acc", subject, limit, tokens);
		return true;
	} catch (error) {
		const fault = await refused(() => Promise.reject(error));
		expect(fault.code).toBe("RATE_LIMIT_EXCEEDED");
		return false;
	}
}

async function passed(nodes: readonly Node[], each: number, limit: RateLimit): Promise<number> {
	const asked = nodes.flatMap((one) => Array.from({ length: each }, () => passes(one, limit)));
	return (await Promise.all(asked)).filter(Boolean).length;
}

/** Makes the windows of the store this much older. */
const age = (ms: number) => once(url, (sql) => sql.unsafe("UPDATE minute_windows SET started_at = started_at - $1", [ms]));

test("a limit of N requests lets exactly N through over all nodes, up to 200", async () => {
	for (const limit of [1, 7, 200]) {
		const nodes = [node(), node(), node()];
		await once(url, (sql) => sql.unsafe("DELETE FROM minute_windows"));
		expect(await passed(nodes, 150, { requestsPerMinute: limit })).toBe(limit);
		expect(await passed(nodes, 10, { requestsPerMinute: limit })).toBe(0);
	}
});

test("a higher limit is never passed, leaves at most an eighth unused, and few of its requests ask the store", async () => {
	const nodes = [node(), node(), node()];
	const limit = { requestsPerMinute: 2_400 };
	let through = 0;
	for (let round = 0; round < 30; round++) through += await passed(nodes, 40, limit);
	expect(through).toBeLessThanOrEqual(2_400);
	expect(through).toBeGreaterThanOrEqual(2_100);
	expect(nodes.reduce((sum, { way }) => sum + way.exchanges, 0)).toBeLessThan(60);
});

test("a refused request asks nobody until the window has ended", async () => {
	const clock = new ManualClock("2026-03-10T12:00:00.500Z");
	const one = node(clock);
	const limit = { requestsPerMinute: 2 };
	expect(await passed([one], 3, limit)).toBe(2);
	const { exchanges } = one.way;
	const error = await refused(() => one.rates.take("acc", "m", limit, 0));
	expect([error.status, error.options.headers?.["x-ratelimit-remaining-requests"]]).toEqual([429, "0"]);
	expect(error.options.retryAfterSeconds).toBeGreaterThan(55);
	expect(one.way.exchanges).toBe(exchanges);
	clock.advance(60_000);
	await age(60_000);
	expect(await passed([one], 3, limit)).toBe(2);
});

test("a window begins with its first request on any node and ends for all of them", async () => {
	const clock = new ManualClock("2026-03-10T12:00:00Z");
	const [first, second] = [node(clock), node(clock)];
	const limit = { requestsPerMinute: 3 };
	await first.rates.take("acc", "m", limit, 0);
	await age(40_000);
	const late = await second.rates.take("acc", "m", limit, 0);
	expect(late).toMatchObject({ limitRequests: 3, remainingRequests: 1 });
	expect(late.resetInSeconds).toBeLessThanOrEqual(20);
	await age(20_000);
	clock.advance(20_000);
	// The second node sees the end of the minute; the store begins another window, and the first node finds it.
	expect((await second.rates.take("acc", "m", limit, 0)).remainingRequests).toBe(2);
	clock.advance(40_000);
	expect((await first.rates.take("acc", "m", limit, 0)).remainingRequests).toBe(1);
});

test("what was granted in a window is gone with it", async () => {
	const clock = new ManualClock("2026-03-10T12:00:00Z");
	const one = node(clock);
	const limit = { requestsPerMinute: 2_400 };
	const { remainingRequests } = await one.rates.take("acc", "m", limit, 0);
	expect(remainingRequests).toBe(2_399);
	clock.advance(60_000);
	await age(60_000);
	const { exchanges } = one.way;
	expect(await one.rates.take("acc", "m", limit, 0)).toMatchObject({ remainingRequests: 2_399 });
	expect(one.way.exchanges).toBe(exchanges + 1);
});

test("accounts and subjects have windows of their own, and a changed limit holds at once", async () => {
	const one = node();
	expect(await passed([one], 3, { requestsPerMinute: 2 })).toBe(2);
	expect(await passes(one, { requestsPerMinute: 2 }, 0, "other")).toBe(true);
	expect(await passed([one], 4, { requestsPerMinute: 5 })).toBe(3);
	expect(await passes(one, { requestsPerMinute: 4 })).toBe(false);
});

async function tokensInStore(): Promise<number> {
	const [row] = await once(url, (sql) => sql.unsafe("SELECT tokens FROM minute_windows"));
	return Number(row.tokens);
}

test("tokens that one node counts are known to the others soon", async () => {
	const [first, second] = [node(), node()];
	const limit = { requestsPerMinute: 100, tokensPerMinute: 1_000 };
	const taken = await first.rates.take("acc", "m", limit, 400);
	expect(await passes(second, limit, 100)).toBe(true);
	first.rates.settle("acc", "m", 400, 950, taken);
	// Each request of the second node reads the sum; it is refused once the sum is 1,000.
	await until(async () => !(await passes(second, limit)));
	const error = await refused(() => second.rates.take("acc", "m", limit, 1));
	expect(error.message).toContain("1000 tokens per minute");
	expect(error.options.limit?.kind).toBe("TPM");
	// The second node's own count is reported at its own time.
	await until(async () => (await tokensInStore()) === 1_050);
});

test("an estimate that was too high is given back to all nodes", async () => {
	const [first, second] = [node(), node()];
	const limit = { requestsPerMinute: 100, tokensPerMinute: 1_000 };
	const taken = await first.rates.take("acc", "m", limit, 1_000);
	await until(async () => !(await passes(second, limit)));
	first.rates.settle("acc", "m", 1_000, 10, taken);
	await until(async () => (await tokensInStore()) === 10);
	// The second node has not read tokens since: its next request reads the sum and passes.
	await until(() => passes(second, limit, 1));
});

test("without the store each node counts alone, at once, and tells it afterwards what it let through", async () => {
	const nodes = [node(), node()] as const;
	const limit = { requestsPerMinute: 10 };
	for (const one of nodes) expect(await passes(one, limit)).toBe(true);
	for (const { way } of nodes) way.cut = true;
	expect(await passed([nodes[0]], 20, limit)).toBe(9);
	const alone = nodes[0].rates.take("acc", "other", limit, 0);
	expect(alone).not.toBeInstanceOf(Promise);
	expect((alone as RateState).remainingRequests).toBe(9);
	for (const { way } of nodes) way.cut = false;
	// Requests that it admitted alone count over all nodes once it is back.
	const taken = () => once(url, (sql) => sql.unsafe("SELECT taken FROM minute_windows WHERE subject = 'm'"));
	await until(async () => Number((await taken())[0].taken) >= 10);
	expect(await passes(nodes[1], limit)).toBe(false);
});

test("no request waits longer for a silent store than a second, and what it grants late is not lost", async () => {
	const one = node();
	const limit = { requestsPerMinute: 10 };
	const { promise, resolve } = Promise.withResolvers<void>();
	one.way.held = promise;
	expect(await passed([one], 4, limit)).toBe(4);
	expect(one.rates.take("acc", "m", limit, 0)).not.toBeInstanceOf(Promise);
	resolve();
	await until(async () => {
		const rows = await once(url, (sql) => sql.unsafe("SELECT taken FROM minute_windows"));
		return Number(rows[0]?.taken ?? 0) === 5;
	});
	expect(await passed([one], 10, limit)).toBe(5);
});

test("a crash of the database forgets a minute's counts and nothing else", async () => {
	const one = node();
	const limit = { requestsPerMinute: 3 };
	expect(await passed([one], 2, limit)).toBe(2);
	await cluster.crash();
	await cluster.start();
	// This node knows its own requests.
	await until(async () => !(await passes(one, limit)));
	expect(await passed([one], 3, limit)).toBe(0);
});
