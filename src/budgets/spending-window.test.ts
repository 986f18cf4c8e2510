import { describe, expect, test } from "bun:test";
import { utcDay, windowStart } from "./spending-window.ts";

const day = (date: string) => utcDay(Date.parse(date));

describe("windowStart", () => {
	test("is the day, the first of the month, or 0", () => {
		expect(windowStart("EPOCH", day("2028-02-29"))).toBe(day("2028-02-29"));
		expect(windowStart("MONTH", day("2028-02-29T23:59:59.999Z"))).toBe(day("2028-02-01"));
		expect(windowStart("MONTH", day("2028-03-01"))).toBe(day("2028-03-01"));
		expect(windowStart("MONTH", day("2027-12-31"))).toBe(day("2027-12-01"));
		expect(windowStart("LIFETIME", day("2028-02-29"))).toBe(0);
	});
});
