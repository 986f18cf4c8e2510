import { expect, test } from "bun:test";
import fc from "fast-check";
import { DayCredits } from "./day-credits.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse("2026-03-10T00:00:00Z");

test("a bucket counts until its end is 24 hours old", () => {
	const day = new DayCredits();
	day.add(START, 10);
	day.add(START + 4 * MINUTE, 5);
	day.add(START + 5 * MINUTE, 1);
	expect(day.used(START + 5 * MINUTE)).toBe(16);
	expect(day.firstExpiryMs(START + 5 * MINUTE)).toBe(START + DAY + 5 * MINUTE);
	expect(day.used(START + DAY + 5 * MINUTE - 1)).toBe(16);
	expect(day.used(START + DAY + 5 * MINUTE)).toBe(1);
	expect(day.used(START + DAY + 10 * MINUTE)).toBe(0);
	expect(day.firstExpiryMs(START + DAY + 10 * MINUTE)).toBeNull();
});

test("it tells when so many credits have left", () => {
	const day = new DayCredits();
	for (const [at, credits] of [
		[3, 10],
		[1, 20],
		[2, 30],
	] as const)
		day.add(START + at * HOUR, credits);
	const now = START + 4 * HOUR;
	const leaves = (hour: number) => START + hour * HOUR + 5 * MINUTE + DAY;
	expect([1, 20, 21, 50, 51, 60, 1_000].map((credits) => day.expiryOfCreditsMs(now, credits))).toEqual(
		[1, 1, 2, 2, 3, 3, 3].map(leaves),
	);
	expect(day.expiryOfCreditsMs(now, 0)).toBe(now);
});

test("a clock that steps forward and back loses no count", () => {
	const day = new DayCredits();
	day.add(START, 10);
	expect(day.used(START + DAY + HOUR)).toBe(0);
	expect(day.used(START)).toBe(10);
	day.add(START + 10 * HOUR, 5);
	expect(day.used(START)).toBe(15);
});

test("the sum is that of a window computed anew, whatever comes in which order", () => {
	const step = fc.record({
		forward: fc.integer({ min: -2 * HOUR, max: 9 * HOUR }),
		credits: fc.integer({ min: 0, max: 1_000 }),
		put: fc.boolean(),
	});
	fc.assert(
		fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
			const day = new DayCredits();
			const model = new Map<number, number>();
			let now = START;
			for (const { forward, credits, put } of steps) {
				now += forward;
				const bucket = Math.floor(now / (5 * MINUTE));
				model.set(bucket, put ? credits : (model.get(bucket) ?? 0) + credits);
				if (put) day.setBucket(bucket, credits);
				else day.add(now, credits);
				const live = [...model].filter(([at]) => (at + 1) * 5 * MINUTE > now - DAY);
				expect(day.used(now)).toBe(live.reduce((sum, [, amount]) => sum + amount, 0));
			}
		}),
		{ numRuns: 300 },
	);
});
