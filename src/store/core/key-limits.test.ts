import { describe, expect, test } from "bun:test";
import { limitNano } from "./key-limits.ts";

describe("limitNano", () => {
	test("reads decimal text exactly, cut after nine places", () => {
		expect(limitNano("0.1")).toBe(100_000_000);
		expect(limitNano("12.000000001")).toBe(12_000_000_001);
		expect(limitNano("0.0000000019")).toBe(1);
		expect(limitNano("0")).toBe(0);
		expect(limitNano("1e-7")).toBe(100);
	});

	test("compares what is above 9,000,000 as 9,000,000, and null as no limit", () => {
		expect(limitNano("9999999999")).toBe(9e15);
		expect(limitNano("9000000.000000001")).toBe(9e15);
		expect(limitNano(null)).toBe(Number.POSITIVE_INFINITY);
	});

	test("refuses what is no amount, which must not become no limit", () => {
		for (const wrong of ["", " ", "-1", "abc", "NaN", "1,5"]) expect(() => limitNano(wrong)).toThrow(RangeError);
	});
});
