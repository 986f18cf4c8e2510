import { describe, expect, test } from "bun:test";
import { nano } from "../ledger/nano.ts";
import type { ApiKey } from "../store/port.ts";
import { priced, refused, testNode, turns } from "./testing/test-node.ts";

/** Returns limits as decimal text of this many nano-USD. */
function limits(usd: number | null, diem: number | null): ApiKey["limits"] {
	const text = (value: number | null) => (value === null ? null : `0.${`${value}`.padStart(9, "0")}`);
	return { usd: text(usd), diem: text(diem), vcu: null };
}

/** On a store that other nodes spend from, limits are leased; the rules are the same. */
describe.each([false, true])("where the store is shared (%p),", (shared) => {
	async function nodeWith(
		money: { usd?: number; bundled?: number; stakeDiem?: number },
		key: Partial<ApiKey>,
		at = "2026-03-10T12:00:00Z",
	) {
		const node = testNode({ at });
		node.store.shared = shared;
		node.store.addAccount("a", money);
		node.store.addKey("k", "a", key);
		return { ...node, caller: await node.caller("k") };
	}

	describe("a key's caps", () => {
		test("refuse what would pass the usd limit, and take exactly the limit", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(100, null) });
			const error = await refused(() => node.budgets.hold(node.caller, node.context(), nano(101)));
			expect([error.status, error.code]).toEqual([402, "API_KEY_USD_SPEND_LIMIT_EXCEEDED"]);
			expect((await node.budgets.hold(node.caller, node.context(), nano(100))).amount).toBe(nano(100));
		});

		test("count open holds, and say to try again while only those stand in the way", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(100, null) });
			const hold = await node.budgets.hold(node.caller, node.context(), nano(60));
			const error = await refused(() => node.budgets.hold(node.caller, node.context(), nano(50)));
			expect([error.code, error.options.retryAfterSeconds]).toEqual(["API_KEY_USD_SPEND_LIMIT_EXCEEDED", 1]);
			hold.post(priced(50));
			expect((await node.budgets.hold(node.caller, node.context(), nano(50))).amount).toBe(nano(50));
		});

		test("cover bundled credit and usd together", async () => {
			const node = await nodeWith({ usd: 1_000, bundled: 60 }, { limits: limits(100, null) });
			(await node.budgets.hold(node.caller, node.context(), nano(80))).post(priced(80));
			await refused(() => node.budgets.hold(node.caller, node.context(), nano(21)));
			expect((await node.budgets.hold(node.caller, node.context(), nano(20))).post(priced(20))).toMatchObject({ usd: 20 });
		});

		test("let spending go on in usd when the diem limit is hit", async () => {
			const node = await nodeWith({ usd: 1_000, stakeDiem: 500 }, { limits: limits(null, 30) });
			expect((await node.budgets.hold(node.caller, node.context(), nano(50))).post(priced(50))).toMatchObject({
				diem: 30,
				usd: 20,
			});
		});

		test("name the diem limit where there is no usd to go on with, and the usd limit where both stand", async () => {
			const diemOnly = await nodeWith({ stakeDiem: 500 }, { limits: limits(null, 30) });
			expect((await refused(() => diemOnly.budgets.hold(diemOnly.caller, diemOnly.context(), nano(31)))).code).toBe(
				"API_KEY_DIEM_SPEND_LIMIT_EXCEEDED",
			);
			const both = await nodeWith({ stakeDiem: 500, usd: 500 }, { limits: limits(10, 30) });
			expect((await refused(() => both.budgets.hold(both.caller, both.context(), nano(41)))).code).toBe(
				"API_KEY_USD_SPEND_LIMIT_EXCEEDED",
			);
			const poor = await nodeWith({ usd: 5 }, { limits: limits(100, 30) });
			expect((await refused(() => poor.budgets.hold(poor.caller, poor.context(), nano(6)))).code).toBe("INSUFFICIENT_BALANCE");
		});

		test("of 0 switch a currency off", async () => {
			const node = await nodeWith({ usd: 500, stakeDiem: 50 }, { limits: { usd: "0", diem: null, vcu: null } });
			await refused(() => node.budgets.hold(node.caller, node.context(), nano(51)));
			expect((await node.budgets.hold(node.caller, node.context(), nano(50))).post(priced(50))).toMatchObject({
				diem: 50,
				usd: 0,
			});
			const error = await refused(() => node.budgets.hold(node.caller, node.context(), nano(1)));
			expect(error.code).toBe("API_KEY_USD_SPEND_LIMIT_EXCEEDED");
			expect(error.options.retryAfterSeconds).toBeUndefined();
		});

		test("bound what a post may take beyond its hold; the own hold is always usable", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(100, null) });
			const first = await node.budgets.hold(node.caller, node.context(), nano(10));
			const second = await node.budgets.hold(node.caller, node.context(), nano(80));
			// This node has leased what its holds need of a shared limit: the store grants the rest.
			expect(first.post(priced(50))).toMatchObject(
				shared ? { usd: 10, owed: 40, overrun: 0 } : { usd: 20, owed: 30, overrun: 0 },
			);
			node.store.addKey("k", "a", { limits: limits(5, null) });
			node.store.notifyKey("k");
			await node.budgets.caller("k");
			expect(second.post(priced(90))).toMatchObject({ usd: 80, owed: 10, overrun: 0 });
			await node.store.settled();
			expect([node.store.spent("a", "usd"), node.store.overrun]).toEqual([100, 40]);
		});

		test("never let a free request be refused", async () => {
			const node = await nodeWith({}, { limits: { usd: "0", diem: "0", vcu: null } });
			expect((await node.budgets.hold(node.caller, node.context(), nano(0))).amount).toBe(nano(0));
		});

		test("need no store trip to refuse what the caps alone forbid", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(10, 0) });
			(await node.budgets.hold(node.caller, node.context(), nano(10))).post(priced(10));
			const before = node.store.calls.length;
			expect(() => node.budgets.hold(node.caller, node.context(), nano(1))).toThrow("The USD limit of this key");
			expect(node.store.calls.length).toBe(before);
		});
	});

	describe("a cap's window", () => {
		const passes = async (node: Awaited<ReturnType<typeof nodeWith>>, amount: number) =>
			(await node.budgets.hold(node.caller, node.context(), nano(amount))).post(priced(amount));

		for (const [period, at, nextWindow] of [
			["EPOCH", "2028-02-28T23:00:00Z", "2028-02-29T00:00:00Z"],
			["EPOCH", "2027-12-31T23:59:59Z", "2028-01-01T00:00:00Z"],
			["MONTH", "2028-02-29T23:59:59Z", "2028-03-01T00:00:00Z"],
			["MONTH", "2027-02-28T23:59:59Z", "2027-03-01T00:00:00Z"],
			["MONTH", "2027-12-31T23:59:59Z", "2028-01-01T00:00:00Z"],
		] as const) {
			test(`of ${period} that holds ${at} ends before ${nextWindow}`, async () => {
				const node = await nodeWith({ usd: 1_000 }, { limits: limits(10, null), limitPeriod: period }, at);
				await passes(node, 10);
				expect((await refused(() => passes(node, 1))).code).toBe("API_KEY_USD_SPEND_LIMIT_EXCEEDED");
				node.clock.setWall(nextWindow);
				await passes(node, 10);
				await refused(() => passes(node, 1));
			});
		}

		test("of a month goes on over the days in it, and a lifetime over everything", async () => {
			for (const [period, later] of [
				["MONTH", "2028-02-29T12:00:00Z"],
				["LIFETIME", "2031-01-01T00:00:00Z"],
			] as const) {
				const node = await nodeWith({ usd: 1_000 }, { limits: limits(10, null), limitPeriod: period }, "2028-02-01T00:00:00Z");
				await passes(node, 6);
				node.clock.setWall(later);
				await refused(() => passes(node, 5));
				await passes(node, 4);
			}
		});

		test("takes a post of a request that was admitted before midnight", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(10, null) }, "2026-03-10T23:59:59Z");
			const late = await node.budgets.hold(node.caller, node.context(), nano(9));
			node.clock.advance(2_000);
			const early = await node.budgets.hold(node.caller, node.context(), nano(10));
			late.post(priced(9));
			early.post(priced(4));
			await refused(() => node.budgets.hold(node.caller, node.context(), nano(7)));
			await passes(node, 6);
			const yesterday = node.context({ admittedAtMs: node.clock.wallMs() - 3_000 });
			await refused(() => node.budgets.hold(node.caller, yesterday, nano(2)));
			expect((await node.budgets.hold(node.caller, yesterday, nano(1))).amount).toBe(nano(1));
		});
	});

	describe("changed limits", () => {
		test("bind the next request, and count what was spent and is held before", async () => {
			const node = await nodeWith({ usd: 1_000 }, {});
			(await node.budgets.hold(node.caller, node.context(), nano(30))).post(priced(30));
			const open = await node.budgets.hold(node.caller, node.context(), nano(20));
			node.store.addKey("k", "a", { limits: limits(60, null) });
			node.store.notifyKey("k");
			const again = await node.budgets.caller("k");
			expect(again).toBe(node.caller);
			await refused(() => node.budgets.hold(node.caller, node.context(), nano(11)));
			expect((await node.budgets.hold(node.caller, node.context(), nano(10))).amount).toBe(nano(10));
			open.void();
			expect((await node.budgets.hold(node.caller, node.context(), nano(20))).amount).toBe(nano(20));
		});

		test("count posts made while the key is read again once", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(100, null) });
			const first = await node.budgets.hold(node.caller, node.context(), nano(10));
			const second = await node.budgets.hold(node.caller, node.context(), nano(10));
			first.post(priced(10));
			node.store.auto = false;
			node.store.notifyKey("k");
			second.post(priced(10));
			while (node.store.step());
			node.store.auto = true;
			await turns();
			expect(await node.budgets.caller("k")).toBe(node.caller);
			await refused(() => node.budgets.hold(node.caller, node.context(), nano(81)));
			expect((await node.budgets.hold(node.caller, node.context(), nano(80))).amount).toBe(nano(80));
		});

		test("of the period look back into the new window", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(50, null) }, "2026-03-10T12:00:00Z");
			(await node.budgets.hold(node.caller, node.context(), nano(40))).post(priced(40));
			node.clock.advance(86_400_000);
			(await node.budgets.hold(node.caller, node.context(), nano(5))).post(priced(5));
			node.store.addKey("k", "a", { limits: limits(50, null), limitPeriod: "MONTH" });
			node.store.notifyKey("k");
			await node.budgets.caller("k");
			await refused(() => node.budgets.hold(node.caller, node.context(), nano(6)));
			expect((await node.budgets.hold(node.caller, node.context(), nano(5))).amount).toBe(nano(5));
		});

		test("that take a limit away let the key spend again", async () => {
			const node = await nodeWith({ usd: 1_000 }, { limits: limits(1, null) });
			await refused(() => node.budgets.hold(node.caller, node.context(), nano(500)));
			node.store.addKey("k", "a");
			node.store.notifyKey("k");
			await node.budgets.caller("k");
			expect((await node.budgets.hold(node.caller, node.context(), nano(500))).amount).toBe(nano(500));
		});

		test("of the period leave a hold of an unknown window its own money, and no more", async () => {
			const node = await nodeWith({ usd: 1_000, stakeDiem: 500 }, { limits: limits(600, 100), limitPeriod: "MONTH" });
			const early = await node.budgets.hold(node.caller, node.context(), nano(90));
			const late = await node.budgets.hold(node.caller, node.context(), nano(50));
			node.clock.advance(86_400_000);
			node.store.addKey("k", "a", { limits: limits(600, 0), limitPeriod: "EPOCH" });
			node.store.notifyKey("k");
			await node.budgets.caller("k");
			expect(early.post(priced(90))).toMatchObject({ diem: 90, usd: 0 });
			// On a shared store the days of windows do not change: only the store knows the rest.
			expect(late.post(priced(60))).toMatchObject({ diem: 10, usd: 40, ...(shared ? { owed: 10 } : { overrun: 10 }) });
		});
	});
});
