import { describe, expect, test } from "bun:test";
import type { ModelTarget } from "../catalog/types.ts";
import type { UpstreamConfig } from "../config/schema.ts";
import type { TimerClock } from "../telemetry/timer-clock.ts";
import { brokenAnswer, failureOfAnswer } from "./failures.ts";
import { Pool } from "./pool.ts";
import type { UpstreamServer } from "./upstream-server.ts";

/** Time that moves when it is told. */
function handClock(): TimerClock & { advance(ms: number): Promise<void>; readonly timers: number } {
	let now = 0;
	const timers = new Map<number, { dueMs: number; action: () => void }>();
	let ids = 0;
	return {
		monotonicMs: () => now,
		after(delayMs, action) {
			const id = ids++;
			timers.set(id, { dueMs: now + delayMs, action });
			return () => void timers.delete(id);
		},
		async advance(ms) {
			now += ms;
			for (const [id, timer] of [...timers]) {
				if (timer.dueMs > now) continue;
				timers.delete(id);
				timer.action();
			}
			for (let turn = 0; turn < 5; turn++) await Promise.resolve();
		},
		get timers() {
			return timers.size;
		},
	};
}

const config = (overrides: Partial<UpstreamConfig> = {}): UpstreamConfig => ({
	url: "http://a.example/v1",
	dialect: "generic",
	discover: true,
	health: { failures: 3, probeEveryMs: 5_000 },
	...overrides,
});
const target = (upstream: string, overrides: Partial<ModelTarget> = {}): ModelTarget => ({
	upstream,
	model: "m",
	weight: 1,
	order: 0,
	...overrides,
});

function poolOf(names: readonly string[], overrides: Partial<UpstreamConfig> = {}) {
	const clock = handClock();
	const state = { alive: true, probes: [] as string[], changes: [] as string[] };
	const pool = new Pool({
		upstreams: Object.fromEntries(names.map((name) => [name, config({ url: `http://${name}.example/v1`, ...overrides })])),
		clock,
		probe: async (server) => {
			state.probes.push(server.name);
			return state.alive;
		},
		onChange: (server) => state.changes.push(`${server.name} ${server.health.state}`),
	});
	const server = (name: string): UpstreamServer => {
		const found = pool.candidates([target(name)])[0];
		if (!found) throw new Error(`no ${name}`);
		return found.server;
	};
	const order = (...targets: ModelTarget[]) => pool.candidates(targets).map((candidate) => candidate.server.name);
	const fail = (name: string, times = 3) => {
		for (let i = 0; i < times; i++) pool.reportFailure(server(name), brokenAnswer("status 500"));
	};
	return { pool, clock, state, server, order, fail };
}

describe("the order of candidates", () => {
	test("follows `order`, and leaves out names that the config lacks", () => {
		const { order } = poolOf(["a", "b", "c"]);
		for (let i = 0; i < 20; i++) {
			expect(order(target("c", { order: 2 }), target("a", { order: 1 }), target("b"), target("gone"))).toEqual(["b", "a", "c"]);
		}
	});

	test("shares by weight among equals", () => {
		const { order } = poolOf(["a", "b"]);
		let first = 0;
		for (let i = 0; i < 4_000; i++) if (order(target("a", { weight: 3 }), target("b"))[0] === "a") first++;
		expect(first).toBeGreaterThan(2_800);
		expect(first).toBeLessThan(3_200);
	});

	test("is the same for the same sticky key, and shares keys by weight", () => {
		const { pool } = poolOf(["a", "b", "c"]);
		const targets = [target("a", { weight: 2 }), target("b"), target("c")];
		const first = (key: string) => pool.candidates(targets, key)[0]?.server.name;
		let a = 0;
		for (let key = 0; key < 2_000; key++) {
			expect(first(`key-${key}`)).toBe(first(`key-${key}`));
			if (first(`key-${key}`) === "a") a++;
		}
		expect(a).toBeGreaterThan(850);
		expect(a).toBeLessThan(1_150);
		// Without one of them, only its own keys move.
		const without = (key: string) => pool.candidates(targets.slice(0, 2), key)[0]?.server.name;
		for (let key = 0; key < 500; key++) if (first(`key-${key}`) !== "c") expect(without(`key-${key}`)).toBe(first(`key-${key}`));
	});

	test("puts an upstream that asked for a pause behind the others until the pause ends", async () => {
		const { pool, clock, server, order } = poolOf(["a", "b"]);
		const targets = [target("a"), target("b", { order: 1 })];
		pool.reportFailure(server("a"), failureOfAnswer(429, {}, "10"));
		expect(order(...targets)).toEqual(["b", "a"]);
		await clock.advance(10_000);
		expect(order(...targets)).toEqual(["a", "b"]);
	});
});

describe("ejection", () => {
	test("is not for 402, which is told for a quarter of an hour", async () => {
		const { pool, clock, server } = poolOf(["a", "b"]);
		for (let time = 0; time < 5; time++)
			pool.reportFailure(server("a"), failureOfAnswer(402, { error: "228 tokens would fit" }, null));
		const refusal = () => pool.snapshot().map(({ state, accountRefusal }) => [state, accountRefusal]);
		expect(refusal()).toEqual([
			["up", "status 402"],
			["up", null],
		]);
		pool.reportSuccess(server("a"));
		await clock.advance(15 * 60_000 - 1);
		expect(refusal()[0]).toEqual(["up", "status 402"]);
		await clock.advance(1);
		expect(refusal()[0]).toEqual(["up", null]);
	});

	test("takes consecutive faults; a success in between starts the count again", () => {
		const { pool, server, order, fail } = poolOf(["a", "b"]);
		fail("a", 2);
		pool.reportSuccess(server("a"));
		fail("a", 2);
		expect(order(target("a"), target("b", { order: 1 }))).toEqual(["a", "b"]);
		fail("a", 1);
		expect(order(target("a"), target("b", { order: 1 }))).toEqual(["b"]);
	});

	test("never leaves a model without candidates", () => {
		const { order, fail } = poolOf(["a", "b"]);
		fail("a");
		fail("b");
		expect(order(target("a"), target("b", { order: 1 }))).toEqual(["a", "b"]);
	});

	test("is not for refused requests, missing models and pauses", () => {
		const { pool, server, order } = poolOf(["a", "b"]);
		for (const status of [400, 404, 429, 403])
			for (let i = 0; i < 5; i++) pool.reportFailure(server("a"), failureOfAnswer(status, {}, null));
		expect(order(target("a"), target("b", { order: 1 }))).toContain("a");
		expect(server("a").health.state).toBe("up");
	});

	test("ends by a good probe: then one request at a time, until one succeeds", async () => {
		const { pool, clock, state, server, order, fail } = poolOf(["a", "b"]);
		const targets = [target("a"), target("b", { order: 1 })];
		state.alive = false;
		fail("a");
		await clock.advance(5_000);
		await clock.advance(5_000);
		expect(state.probes).toEqual(["a", "a"]);
		expect(order(...targets)).toEqual(["b"]);
		state.alive = true;
		await clock.advance(5_000);
		expect(order(...targets)).toEqual(["a", "b"]);
		const giveBack = pool.take(server("a"), "acc_a");
		expect(order(...targets)).toEqual(["b"]);
		pool.reportSuccess(server("a"));
		expect(order(...targets)).toEqual(["a", "b"]);
		giveBack?.();
		expect(clock.timers).toBe(0);
		expect(state.changes).toEqual(["a out", "a trial", "a up"]);
	});

	test("comes back at the first fault on trial, and lasts twice as long", async () => {
		const { clock, state, order, fail } = poolOf(["a", "b"]);
		const targets = [target("a"), target("b", { order: 1 })];
		fail("a");
		await clock.advance(5_000);
		fail("a", 1);
		expect(order(...targets)).toEqual(["b"]);
		await clock.advance(5_000);
		expect(state.probes).toEqual(["a"]);
		await clock.advance(5_000);
		expect(state.probes).toEqual(["a", "a"]);
		expect(order(...targets)).toEqual(["a", "b"]);
	});

	test("leaves no timer behind after close", () => {
		const { pool, clock, fail } = poolOf(["a"]);
		fail("a");
		expect(clock.timers).toBe(1);
		pool.close();
		expect(clock.timers).toBe(0);
	});
});

describe("concurrency limits", () => {
	test("give out so many places and no more; a place is given back once", () => {
		const { pool, server } = poolOf(["a"], { maxConcurrent: 2 });
		const first = pool.take(server("a"), "acc_a");
		const second = pool.take(server("a"), "acc_a");
		expect([typeof first, typeof second, pool.take(server("a"), "acc_a")]).toEqual(["function", "function", null]);
		first?.();
		first?.();
		expect(server("a").load.running).toBe(1);
		expect(pool.take(server("a"), "acc_a")).not.toBeNull();
	});
});

describe("new settings", () => {
	test("keep what runs, and the health of a server that stayed", () => {
		const { pool, server, order, fail } = poolOf(["a", "b"]);
		fail("a");
		const held = pool.take(server("b"), "acc_a");
		pool.replace({
			a: config({ url: "http://a.example/v1", idleMs: 5 }),
			b: config({ url: "http://b.example/v1", maxConcurrent: 1 }),
			c: config(),
		});
		expect(order(target("a"), target("c", { order: 1 }))).toEqual(["c"]);
		expect(server("b").load.running).toBe(1);
		expect(pool.take(server("b"), "acc_a")).toBeNull();
		held?.();
		expect(server("b").load.running).toBe(0);
	});

	test("give a moved server a new start, and forget one that left", () => {
		const { pool, clock, order, fail } = poolOf(["a", "b"]);
		fail("a");
		fail("b");
		pool.replace({ a: config({ url: "http://elsewhere.example/v1" }) });
		expect(order(target("a"), target("b"))).toEqual(["a"]);
		expect(clock.timers).toBe(0);
		expect(pool.snapshot()).toEqual([
			{
				name: "a",
				url: "http://elsewhere.example/v1",
				state: "up",
				running: 0,
				maxConcurrent: null,
				consecutiveFaults: 0,
				ejections: 0,
				lastFault: null,
				busy: false,
				accountRefusal: null,
			},
		]);
	});
});
