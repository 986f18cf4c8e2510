import { expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../errors/index.ts";
import { readExpiry } from "./expiry.ts";

const NOW = Date.parse("2024-02-29T12:00:00.000Z");

test("the next millisecond is in time, the current one is past", () => {
	expect(readExpiry("2024-02-29T12:00:00.001Z", NOW)).toBe(NOW + 1);
	for (const late of ["2024-02-29T12:00:00.000Z", "2024-02-29T12:00:00Z", "2024-02-29", "0000-01-01"])
		expect(() => readExpiry(late, NOW)).toThrow("expiresAt: must lie in the future");
});

test("every instant in the future is read as what it is, with three places or none", () => {
	const last = Date.parse("9999-12-31T23:59:59.999Z");
	fc.assert(
		fc.property(fc.integer({ min: NOW + 1000, max: last }), (instant) => {
			const text = new Date(instant).toISOString();
			expect(readExpiry(text, NOW)).toBe(instant);
			expect(readExpiry(text.replace(/\.\d+/, ""), NOW)).toBe(Math.floor(instant / 1000) * 1000);
		}),
	);
});

test.each([
	["2030-01-31T12:00:00+02:00", "2030-01-31T10:00:00.000Z"],
	["2030-01-31T23:30:00.5-05:30", "2030-02-01T05:00:00.500Z"],
	["2028-02-29T00:30:00+01:00", "2028-02-28T23:30:00.000Z"],
	["2030-01-31T12:00:00-00:00", "2030-01-31T12:00:00.000Z"],
])("an instant with an offset, %s, is %s", (text, instant) => {
	expect(readExpiry(text, NOW)).toBe(Date.parse(instant));
});

test.each([
	"2030-02-30T12:00:00+02:00",
	"2030-01-31T24:00:00+02:00",
	"2030-01-31T12:00:00+24:00",
	"2030-01-31T12:00:00+02",
	"2030-01-31T12:00:00+0200",
	"2030-01-31+02:00",
	"9999-12-31T23:59:59-01:00",
	"2030-01-31T12:00:00",
])("%s is refused", (text) => {
	expect(() => readExpiry(text, NOW)).toThrow("expiresAt: must be a date");
});

test("any other text is refused, never read as something else", () => {
	fc.assert(
		fc.property(
			fc.oneof(fc.string(), fc.date().map(String), fc.stringMatching(/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,3})?Z)?$/)),
			(text) => {
				try {
					const instant = readExpiry(text, NOW);
					expect(text === "" ? instant === null : new Date(instant ?? 0).toISOString().startsWith(text.slice(0, 19))).toBe(true);
				} catch (error) {
					expect(error).toBeInstanceOf(ApiError);
				}
			},
		),
	);
});
