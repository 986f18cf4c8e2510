import { expect, test } from "bun:test";
import { HedgeBudget, LatencyQuantile } from "./latency.ts";

test("the quantile is near the time within which 97 of 100 are done", () => {
	const pace = new LatencyQuantile();
	for (let count = 0; count < 19; count++) pace.add(10);
	expect(pace.quantileMs).toBeNull();
	for (let count = 0; count < 981; count++) pace.add(count % 50 === 0 ? 400 : 10);
	expect(pace.quantileMs).toBeWithin(10, 12);
	for (let count = 0; count < 1_000; count++) pace.add(count % 10 === 0 ? 400 : 10);
	expect(pace.quantileMs).toBeWithin(400, 470);
});

test("what was long ago weighs less: the quantile follows a chain that becomes slow, and one that becomes fast", () => {
	const pace = new LatencyQuantile();
	for (let count = 0; count < 5_000; count++) pace.add(5);
	for (let count = 0; count < 3_000; count++) pace.add(80);
	expect(pace.quantileMs).toBeWithin(80, 94);
	for (let count = 0; count < 20_000; count++) pace.add(5);
	expect(pace.quantileMs).toBeWithin(5, 6);
});

test("times beyond all bounds are times too", () => {
	const pace = new LatencyQuantile();
	for (let count = 0; count < 40; count++) pace.add(count % 2 === 0 ? 0 : 1e12);
	expect(pace.quantileMs).toBeGreaterThan(60_000);
});

test("second tries are a share of the reads, and a few at once", () => {
	const hedges = new HedgeBudget(10);
	let made = 0;
	for (let count = 0; count < 1_000; count++) {
		hedges.earn();
		if (hedges.spend()) made++;
	}
	expect(made).toBeWithin(100, 112);
	const burst = new HedgeBudget(10);
	for (let count = 0; count < 10_000; count++) burst.earn();
	let atOnce = 0;
	while (burst.spend()) atOnce++;
	expect(atOnce).toBe(10);
	const off = new HedgeBudget(0);
	off.earn();
	expect([off.isOff, off.spend()]).toEqual([true, false]);
});
