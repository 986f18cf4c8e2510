import { expect, test } from "bun:test";
import fc from "fast-check";
import { requestId, samplePost } from "../../journal/testing/sample-records.ts";
import { nano, pico } from "../../ledger/index.ts";
import { applyPost } from "./post-lines.ts";

const part = fc.record({
	source: fc.constantFrom("diem" as const, "bundled" as const, "usd" as const),
	amount: fc.integer({ min: 1, max: 2 ** 44 }).map(nano),
});
const line = fc.record({
	sku: fc.constantFrom("a", "b", "c"),
	units: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.maxSafeNat()),
	picoPrice: fc.maxSafeNat().map(pico),
	from: fc.array(part, { maxLength: 3 }),
	overrun: fc.integer({ min: 0, max: 2 ** 44 }).map(nano),
});

test("the parts of a post carry its whole price and each paid unit once", () => {
	fc.assert(
		fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
			const booked = applyPost(samplePost(requestId(1), "acc_a", { lines }));
			const price = (of: typeof lines) =>
				of.reduce((sum, at) => sum + at.overrun + at.from.reduce((inner, { amount }) => inner + amount, 0), 0);
			expect(booked.parts.reduce((sum, at) => sum + at.amount, 0)).toBe(price(lines));
			const borne = booked.parts.reduce((sum, at) => sum + (at.source === "overrun" ? at.amount : 0), 0);
			expect(borne).toBe(lines.reduce((sum, at) => sum + at.overrun, 0));
			const units = (counted: readonly { units: number }[]) => counted.reduce((sum, at) => sum + BigInt(at.units), 0n);
			expect(units([...booked.parts, ...booked.free])).toBe(units(lines));
			expect(booked.parts.every((at) => at.amount > 0 && at.units >= 0 && Number.isSafeInteger(at.units))).toBe(true);
		}),
	);
});
