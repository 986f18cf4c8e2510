import { expect, test } from "bun:test";
import { addMonths, isMonth, monthOf, monthStartMs } from "./month.ts";
import { retentionOrder } from "./retention-order.ts";

const NOW = Date.parse("2026-03-31T23:59:59.999Z");

test("so many whole months stay, besides the one that runs", () => {
	const order = retentionOrder({ journalMonths: 1, usageMonths: 14, requestDays: 30, folder: "/archives" }, "/data", NOW);
	expect(order.archive).toEqual({ before: "2026-02", folder: "/archives" });
	expect(order.foldUsage).toEqual({ beforeDay: Date.parse("2025-01-01") / 86_400_000 });
	expect(order.prune?.exceededLimitsBeforeMs).toBe(NOW - 30 * 86_400_000);
});

test("what has no setting stays for good; archives go into the data folder", () => {
	expect(retentionOrder({ requestDays: 30 }, "/data", NOW)).toMatchObject({ archive: null, foldUsage: null });
	expect(retentionOrder({ requestDays: 30, journalMonths: 13 }, "/data", NOW).archive).toEqual({
		before: "2025-02",
		folder: "/data/archive",
	});
});

test("months are counted over years, and begin at 00:00 UTC", () => {
	expect([addMonths("2026-01", -1), addMonths("2025-12", 1), addMonths("2026-03", -27)]).toEqual([
		"2025-12",
		"2026-01",
		"2023-12",
	]);
	expect(monthOf(monthStartMs("2026-03") - 1)).toBe("2026-02");
	expect(["2026-00", "2026-13", "2026-1", "26-01", "2026-01-01", ""].filter(isMonth)).toEqual([]);
	expect(isMonth("2026-12")).toBe(true);
});
