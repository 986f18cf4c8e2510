import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseNano } from "../../ledger/nano.ts";
import { limitText } from "./limit-text.ts";

test.each([
	[0, "0"],
	[-0, "0"],
	[5, "5"],
	[12.5, "12.5"],
	[0.1 + 0.2, "0.3"],
	[1e-6, "0.000001"],
	[1.5e-7, "0.00000015"],
	[1e-9, "0.000000001"],
	[1.9e-9, "0.000000001"],
	[9.99e-10, "0"],
	[5e-324, "0"],
	[9_999_999_999, "9999999999"],
])("%p is %s", (value, text) => {
	expect(limitText(value)).toBe(text);
});

test("the text is a decimal number, less than a nano below the one that was given and never above it", () => {
	const shortest = fc.double({ min: 0, max: 9_999_999_999, noNaN: true });
	fc.assert(
		fc.property(shortest, (value) => {
			const text = limitText(value);
			expect(text).toMatch(/^\d{1,10}(\.\d{0,8}[1-9])?$/);
			expect(Number(text)).toBeLessThanOrEqual(value);
			expect(value - Number(text)).toBeLessThan(1.000001e-9 + value * Number.EPSILON);
		}),
	);
});

test("what has at most nine places comes back as the same number", () => {
	fc.assert(
		fc.property(fc.integer({ min: 0, max: 9_000_000 }), fc.integer({ min: 0, max: 999_999_999 }), (whole, nano) => {
			const value = Number(`${whole}.${String(nano).padStart(9, "0")}`);
			expect(Number(limitText(value))).toBe(value);
			expect(parseNano(limitText(value))).toBeDefined();
		}),
	);
});
