import { expect, test } from "bun:test";
import { ManualClock } from "../telemetry/clock.ts";
import { FailureGuard } from "./failure-guard.ts";
import { refused } from "./testing/test-node.ts";

function guard(allowed = 20, max = 1_000) {
	const clock = new ManualClock(0);
	const subject = new FailureGuard(clock, () => allowed, max);
	const fail = (times: number, name = "key") => {
		for (let i = 0; i < times; i++) subject.count(name);
	};
	return { clock, guard: subject, fail };
}

test("blocks for 30 s after more than 20 failures within 30 s", async () => {
	const { clock, guard: it, fail } = guard();
	fail(20);
	it.check("key");
	fail(1);
	const error = await refused(() => it.check("key"));
	expect([error.status, error.message, error.options.retryAfterSeconds]).toEqual([
		429,
		"More than 20 failed requests; retry in 30s",
		30,
	]);
	clock.advance(10_001);
	expect((await refused(() => it.check("key"))).options.retryAfterSeconds).toBe(20);
	clock.advance(19_999);
	it.check("key");
	fail(20);
	it.check("key");
});

test("the 30 s slide: failures older than that do not count", () => {
	const { clock, guard: it, fail } = guard();
	fail(10);
	clock.advance(20_000);
	fail(10);
	clock.advance(10_000);
	fail(10);
	it.check("key");
	fail(1);
	expect(() => it.check("key")).toThrow("More than 20");
});

test("one subject does not block another", () => {
	const { guard: it, fail } = guard();
	fail(30, "bad");
	it.check("good");
	expect(() => it.check("bad")).toThrow();
});

test("0 switches it off", () => {
	const { guard: it, fail } = guard(0);
	fail(1_000);
	it.check("key");
	expect(it.size).toBe(0);
});

test("forgets those that ended, and keeps no more subjects than its bound", () => {
	const { clock, guard: it, fail } = guard(20, 100);
	for (let i = 0; i < 1_000; i++) fail(1, `address${i}`);
	expect(it.size).toBeLessThanOrEqual(100);
	clock.advance(31_000);
	fail(1, "new");
	expect(it.size).toBe(1);
});
