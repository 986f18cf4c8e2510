import { expect, test } from "bun:test";
import { nano } from "../../ledger/nano.ts";
import type { CapAmounts } from "../types.ts";
import { type CapHeadroom, decideCapped } from "./cap-split.ts";

const NONE: CapAmounts = { usd: 0, diem: 0 };
const headroom = (limitUsd: number, more: Partial<CapHeadroom> = {}): CapHeadroom => ({
	limit: { usd: limitUsd, diem: Number.POSITIVE_INFINITY },
	spent: NONE,
	own: NONE,
	elsewhere: NONE,
	...more,
});

/** Decides an acquire on an account with this much free USD, by a node that has nothing else free. */
function decide(
	amount: number,
	freeUsd: number,
	of: CapHeadroom,
	here: { money?: CapAmounts; headroom?: CapAmounts; part?: boolean } = {},
) {
	const budgets = [{ source: "usd" as const, day: 0, balance: nano(freeUsd), free: nano(freeUsd) }];
	const { money = NONE, headroom: left = NONE, part = false } = here;
	const cap = { keyId: "k", amount, money, headroom: left };
	const { grants, short, cap: answer } = decideCapped(budgets, { accountId: "a", day: 1, needNano: nano(0), part, cap }, of, 2);
	return { money: grants.map(({ granted }) => Number(granted)), limit: answer.granted.usd, short, capShort: answer.short };
}

test("money and limit are leased together, what is lacking of each, and no more where neither is rich", () => {
	expect(decide(100, 150, headroom(120))).toEqual({ money: [100], limit: 100, short: false, capShort: false });
	expect(decide(100, 150, headroom(120), { money: { usd: 100, diem: 0 } })).toEqual({
		money: [],
		limit: 100,
		short: false,
		capShort: false,
	});
	expect(decide(100, 150, headroom(120), { headroom: { usd: 60, diem: 0 } })).toEqual({
		money: [100],
		limit: 40,
		short: false,
		capShort: false,
	});
});

test("where the limit has too little nothing is leased, and where the money has, it is not the limit that is short", () => {
	const spent = headroom(120, { spent: { usd: 10, diem: 0 }, elsewhere: { usd: 11, diem: 0 } });
	expect(decide(100, 150, spent)).toEqual({ money: [], limit: 0, short: true, capShort: true });
	expect(decide(100, 99, headroom(120))).toEqual({ money: [], limit: 0, short: true, capShort: false });
	expect(decide(100, 150, spent, { part: true })).toMatchObject({ money: [99], limit: 99, short: true });
});

test("a rich limit gives a surplus, a quarter of the node's even share", () => {
	expect(decide(10, 10, headroom(1_010))).toEqual({ money: [10], limit: 10 + 125, short: false, capShort: false });
});

test("holds without a lease get theirs first", () => {
	expect(decide(10, 10, headroom(100), { headroom: { usd: -85, diem: 0 } })).toMatchObject({ money: [10], limit: 95 });
	expect(decide(10, 10, headroom(100), { headroom: { usd: -91, diem: 0 } })).toMatchObject({
		money: [],
		limit: 0,
		capShort: true,
	});
});

test("a limit that was lowered below what is spent and leased gives nothing", () => {
	const over = headroom(50, { spent: { usd: 40, diem: 0 }, own: { usd: 30, diem: 0 } });
	expect(decide(1, 100, over)).toMatchObject({ money: [], limit: 0, capShort: true });
});
