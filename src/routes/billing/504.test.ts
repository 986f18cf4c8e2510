import { expect, test } from "bun:test";
import type { UsageSums } from "../../budgets/index.ts";
import { ManualClock } from "../../telemetry/clock.ts";
import { AnalyticsCache } from "./analytics-cache.ts";

const NOTHING: UsageSums = { byDay: [], bySku: [], byKey: [], diemBySkuDay: [], diemByKeyDay: [] };
const days = { keyId: null, firstDay: 20_000, lastDay: 20_006 };

test("sums that the store does not have in time, and the next caller asks it again", async () => {
	let asked = 0;
	const clock = new ManualClock(0);
	const never = new Promise<UsageSums>(() => {});
	const cache = new AnalyticsCache({ sums: () => (++asked === 1 ? never : Promise.resolve(NOTHING)) }, clock, 20);
	const both = await Promise.allSettled([cache.sums({ accountId: "a", ...days }), cache.sums({ accountId: "a", ...days })]);
	for (const { status, ...rest } of both) {
		expect(status).toBe("rejected");
		expect(rest).toMatchObject({ reason: { code: "REQUEST_TIMEOUT", status: 504 } });
	}
	expect(asked).toBe(1);
	expect(await cache.sums({ accountId: "a", ...days })).toBe(NOTHING);
});

test("what was read is kept ten minutes, for its account and days only, and not without bound", async () => {
	const asked: string[] = [];
	const clock = new ManualClock(0);
	const cache = new AnalyticsCache(
		{
			sums: ({ accountId, lastDay }) => {
				asked.push(`${accountId} ${lastDay}`);
				return Promise.resolve(NOTHING);
			},
		},
		clock,
	);
	const read = (accountId: string, lastDay = 20_006) => cache.sums({ accountId, keyId: null, firstDay: 20_000, lastDay });
	await read("a");
	await read("b");
	await read("a", 20_007);
	clock.advance(10 * 60_000 - 1);
	await read("a");
	expect(asked).toEqual(["a 20006", "b 20006", "a 20007"]);
	clock.advance(1);
	await read("a");
	expect(asked.length).toBe(4);
	for (let account = 0; account < 500; account++) await read(`many-${account}`);
	await read("a");
	expect(asked.length).toBe(505);
});
