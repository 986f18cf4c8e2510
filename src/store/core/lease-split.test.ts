import { expect, test } from "bun:test";
import type { UsableMoney } from "../types.ts";
import { type FreeMoney, splitLease } from "./lease-split.ts";

const money = (diem: number, bundled: number, usd: number): FreeMoney[] => [
	{ source: "diem", day: 7, free: diem },
	{ source: "bundled", day: 0, free: bundled },
	{ source: "usd", day: 0, free: usd },
];
const split = (budgets: FreeMoney[], need: number, usable?: UsableMoney, part = false) =>
	splitLease(budgets, { need, part, liveNodes: 2, usable }).map(({ source, granted }) => `${source} ${granted}`);

test("the need is met in spending order, or not at all", () => {
	expect(split(money(3, 4, 10), 9)).toEqual(["diem 3", "bundled 4", "usd 2"]);
	expect(split(money(3, 4, 1), 9)).toEqual([]);
	expect(split(money(3, 4, 1), 9, undefined, true)).toEqual(["diem 3", "bundled 4", "usd 1"]);
});

test("what the caps of the asking key forbid is not leased for its need", () => {
	expect(split(money(30, 0, 10), 5, { diem: 3, usd: 9 })).toEqual(["diem 3", "usd 2"]);
	expect(split(money(30, 4, 10), 9, { diem: 0, usd: 9 })).toEqual(["bundled 4", "usd 5"]);
	expect(split(money(30, 4, 10), 5, { diem: 0, usd: 4 })).toEqual([]);
	expect(split(money(30, 4, 10), 9, { diem: 2, usd: 5 }, true)).toEqual(["diem 2", "bundled 4", "usd 1"]);
});

test("a surplus comes from a rich source only, and is a small part of it", () => {
	expect(split(money(0, 0, 100_000), 10)).toEqual(["usd 12508"]);
	expect(split(money(0, 0, 100), 10)).toEqual(["usd 10"]);
	expect(split(money(100_000, 0, 0), 10, { diem: 10, usd: 0 })).toEqual(["diem 12508"]);
});
