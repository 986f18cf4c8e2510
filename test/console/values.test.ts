import { expect, test } from "bun:test";
import fc from "fast-check";
import { amountText, dollars, isZero, sumOf } from "../../console/src/format/amount.ts";
import { bytes, duration } from "../../console/src/format/quantity.ts";
import { settingRows } from "../../console/src/pages/setting-rows.ts";
import { seriesByDay } from "../../console/src/usage/series-by-day.ts";
import type { UsageRow } from "../../src/routes/console/types.ts";

const nanoText = (nano: bigint) => {
	const digits = nano.toString().padStart(10, "0");
	return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
};

test("shows an amount exactly: thousands parted, two places at least, no place lost", () => {
	expect(amountText("1234567.5000")).toBe("1,234,567.50");
	expect(amountText("0.000000001")).toBe("0.000000001");
	expect(amountText("-12.345600")).toBe("-12.3456");
	expect(amountText("9007199.254740993")).toBe("9,007,199.254740993");
	fc.assert(
		fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (nano) => {
			const [whole = "", places = ""] = amountText(nanoText(nano)).replaceAll(",", "").split(".");
			expect(BigInt(whole + places.padEnd(9, "0"))).toBe(nano);
		}),
	);
});

test("a chart's value is exact to the ninth place, sums of floats too", () => {
	expect(dollars(0.1 + 0.2)).toBe("$0.30");
	expect(dollars(Number("3999999.000000001"))).toBe("$3,999,999.000000001");
});

test("adds amounts without a rounding", () => {
	expect(sumOf(["0.1", "0.2"])).toBe("0.300000000");
	expect(sumOf(["1.5", "-2"])).toBe("-0.500000000");
	fc.assert(
		fc.property(fc.array(fc.bigInt({ min: 0n, max: 10n ** 17n }), { maxLength: 12 }), (all) => {
			expect(sumOf(all.map(nanoText))).toBe(nanoText(all.reduce((sum, each) => sum + each, 0n)));
		}),
	);
});

test("knows nothing in every spelling", () => {
	expect(["0", "0.0000", "-0.0", "000.0"].every(isZero)).toBe(true);
	expect(["0.0000000010", "1", "10"].some(isZero)).toBe(false);
});

test("says sizes and times in the unit that fits", () => {
	expect([0, 999, 93_400_000, 1e15].map(bytes)).toEqual(["0 B", "999 B", "93.4 MB", "1000.0 TB"]);
	expect([0.84, 412, 3_210, 300_000, 86_400_000].map(duration)).toEqual(["0.8 ms", "412 ms", "3.2 s", "5 min", "24 h"]);
});

test("lists a configuration's leaves under their paths", () => {
	expect(settingRows({ server: { port: 1, list: [], cors: ["a", "b"] }, upstreams: {}, many: [{ a: null }] })).toEqual([
		{ path: "server.port", value: "1" },
		{ path: "server.list", value: "[]" },
		{ path: "server.cors", value: "a, b" },
		{ path: "upstreams", value: "{}" },
		{ path: "many[0].a", value: "null" },
	]);
});

test("draws each day of a report, and beside the dearest models the rest in one", () => {
	const row = (day: string, model: string, usd: string): UsageRow => ({
		day,
		model,
		usd,
		bundled: "0.0000",
		diem: "1.0000",
		overrun: "0.0000",
		units: {},
	});
	const names = Array.from({ length: 12 }, (_, index) => `m${index}`);
	const rows = [...names.map((name, index) => row("2026-01-01", name, `${100 - index}.0000`)), row("2026-01-03", "m0", "5.0000")];
	const none = { usd: "0", bundled: "0", diem: "0", overrun: "0" };
	const { at, series } = seriesByDay({
		from: "2026-01-01",
		to: "2026-01-03",
		by: ["day", "model"],
		rows,
		total: none,
		truncated: false,
	});
	expect(at).toEqual([0, 1, 2].map((day) => Date.parse("2026-01-01") / 1_000 + day * 86_400));
	expect(series.map(({ label }) => label)).toEqual([...names.slice(0, 7), "others"]);
	expect(series[0]?.values).toEqual([101, 0, 6]);
	expect(series[7]?.values).toEqual([names.slice(7).reduce((sum, _, index) => sum + 94 - index, 0), 0, 0]);
});
