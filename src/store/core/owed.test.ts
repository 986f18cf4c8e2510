import { expect, test } from "bun:test";
import fc from "fast-check";
import type { PostLine } from "../../journal/records.ts";
import { requestId, samplePost } from "../../journal/testing/sample-records.ts";
import { nano, pico } from "../../ledger/index.ts";
import { payOwed } from "./owed.ts";
import { applyPost } from "./post-lines.ts";

const amount = fc.integer({ min: 0, max: 1_000 });
const line = fc.record({
	from: fc.array(
		fc.record({
			source: fc.constantFrom("diem" as const, "bundled" as const, "usd" as const),
			amount: fc.integer({ min: 1, max: 500 }).map(nano),
		}),
		{ maxLength: 3 },
	),
	owed: amount.map(nano),
	overrun: amount.map(nano),
	units: fc.integer({ min: 0, max: 10_000 }),
});
const source = fc.record({ surplus: amount, free: amount });

test("what is owed is paid as far as there is money that the caps allow, to the unit, and the rest is borne", () => {
	fc.assert(
		fc.property(
			fc.array(line, { minLength: 1, maxLength: 4 }),
			fc.record({ diem: source, bundled: source, usd: source }),
			fc.record({ diem: amount, usd: fc.oneof(amount, fc.constant(Number.MAX_SAFE_INTEGER)) }),
			(rows, money, most) => {
				const lines = rows.map((row): PostLine => ({ ...row, sku: "a", picoPrice: pico(1) }));
				const price = rows.reduce(
					(sum, row) => sum + row.owed + row.overrun + row.from.reduce((inner, part) => inner + part.amount, 0),
					0,
				);
				const booked = applyPost(samplePost(requestId(1), "acc", { lines, priceNano: nano(price) }));
				const sources = (["diem", "bundled", "usd"] as const).map((name) => ({ source: name, ...money[name] }));
				const { parts, fromFree } = payOwed(booked.parts, { kept: { diem: 0, bundled: 0, usd: 0 }, most }, () => sources);
				const sum = (of: typeof booked.parts, name: string) =>
					of.reduce((total, part) => total + (part.source === name ? part.amount : 0), 0);
				const owed = sum(booked.parts, "owed");
				const paid = { diem: 0, bundled: 0, usd: 0 };
				for (const name of ["diem", "bundled", "usd"] as const) {
					paid[name] = sum(parts, name) - sum(booked.parts, name);
					const free = fromFree.find((one) => one.source === name)?.amount ?? 0;
					expect(free).toBeLessThanOrEqual(money[name].free);
					expect(paid[name] - free).toBeGreaterThanOrEqual(0);
					expect(paid[name] - free).toBeLessThanOrEqual(money[name].surplus);
				}
				expect(paid.diem).toBeLessThanOrEqual(most.diem);
				expect(paid.bundled + paid.usd).toBeLessThanOrEqual(most.usd);
				const reachable =
					Math.min(most.diem, money.diem.surplus + money.diem.free) +
					Math.min(most.usd, money.bundled.surplus + money.bundled.free + money.usd.surplus + money.usd.free);
				expect(sum(parts, "overrun") - sum(booked.parts, "overrun")).toBe(Math.max(0, owed - reachable));
				const units = (of: typeof booked.parts) => of.reduce((total, part) => total + part.units, 0);
				expect(units(parts)).toBe(units(booked.parts));
				expect(parts.every((part) => part.amount > 0 && part.units >= 0)).toBe(true);
			},
		),
		{ numRuns: 500 },
	);
});

test("a post that owes nothing asks for no money", () => {
	const { parts } = applyPost(samplePost(requestId(1), "acc"));
	const never = () => {
		throw new Error("asked");
	};
	expect(payOwed(parts, undefined, never)).toEqual({ parts: parts as never, fromFree: [] });
});
