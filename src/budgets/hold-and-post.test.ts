import { describe, expect, test } from "bun:test";
import { MoneyError, nano, pico } from "../ledger/nano.ts";
import type { Hold } from "./port.ts";
import { utcDay } from "./spending-window.ts";
import { priced, refused, testNode, turns } from "./testing/test-node.ts";

describe("hold", () => {
	test("waits for one store trip at first and is synchronous afterwards", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const first = node.budgets.hold(caller, node.context(), nano(10));
		expect(first).toBeInstanceOf(Promise);
		expect((await first).amount).toBe(nano(10));
		const second = node.budgets.hold(caller, node.context(), nano(90));
		expect(second).not.toBeInstanceOf(Promise);
		expect(node.budgets.holdsOpen).toBe(2);
		expect(node.store.calls.filter((name) => name === "acquire")).toHaveLength(1);
	});

	test("gives 64 parallel requests with money for three exactly three holds", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 350 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const results = await Promise.allSettled(
			Array.from({ length: 64 }, async () => node.budgets.hold(caller, node.context(), nano(100))),
		);
		const holds = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
		expect(holds).toHaveLength(3);
		expect(node.budgets.holdsOpen).toBe(3);
		expect(node.store.calls.filter((name) => name === "acquire").length).toBeLessThanOrEqual(2);
		for (const hold of holds) hold.void();
		expect(node.budgets.holdsOpen).toBe(0);
	});

	test("serves those who wait first come, first served", async () => {
		const node = testNode();
		node.store.auto = false;
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const found = node.budgets.caller("k");
		for (let i = 0; i < 4; i++) {
			node.store.step();
			await turns(1);
		}
		const caller = await found;
		if (caller === null) throw new Error("unknown");
		const order: string[] = [];
		const wait = async (name: string, amount: number): Promise<void> => {
			try {
				await node.budgets.hold(caller, node.context(), nano(amount));
				order.push(`${name} held`);
			} catch {
				order.push(`${name} refused`);
			}
		};
		const all = [wait("large", 80), wait("too much", 30), wait("small", 20), wait("late", 1)];
		for (let i = 0; i < 8; i++) {
			node.store.step();
			await turns(1);
		}
		await Promise.all(all);
		expect(order).toEqual(["large held", "too much refused", "small held", "late refused"]);
	});

	test("a request that comes while others wait does not overtake them", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const held = await node.budgets.hold(caller, node.context(), nano(95));
		const order: string[] = [];
		const waits = (async () => node.budgets.hold(caller, node.context(), nano(50)))().then(() => order.push("first"));
		const comes = (async () => node.budgets.hold(caller, node.context(), nano(5)))().then(() => order.push("second"));
		held.void();
		await Promise.all([waits, comes]);
		expect(order).toEqual(["first", "second"]);
	});

	test("asks the store at most once in 100 ms after a refusal", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 5 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const trips = () => node.store.calls.filter((name) => name === "acquire").length;
		await refused(() => node.budgets.hold(caller, node.context(), nano(10)));
		expect(trips()).toBe(1);
		expect(() => node.budgets.hold(caller, node.context(), nano(10))).toThrow("Insufficient balance");
		node.clock.advance(99);
		expect(() => node.budgets.hold(caller, node.context(), nano(10))).toThrow("Insufficient balance");
		expect(trips()).toBe(1);
		node.clock.advance(1);
		await refused(() => node.budgets.hold(caller, node.context(), nano(10)));
		expect(trips()).toBe(2);
	});

	test("a dry budget is asked again as soon as money is freed, or the account changes", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 12 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const small = await node.budgets.hold(caller, node.context(), nano(10));
		await refused(() => node.budgets.hold(caller, node.context(), nano(20)));
		node.store.credit("a", "usd", 8);
		small.void();
		const afterFree = await node.budgets.hold(caller, node.context(), nano(20));
		expect(afterFree.amount).toBe(nano(20));
		await refused(() => node.budgets.hold(caller, node.context(), nano(7)));
		node.store.credit("a", "usd", 7);
		node.store.notify({ kind: "account", accountId: "a" });
		expect((await node.budgets.hold(caller, node.context(), nano(7))).amount).toBe(nano(7));
	});

	test("says so, with Retry-After 1, where the money is only held", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		await node.budgets.hold(caller, node.context(), nano(60));
		const whileHeld = await refused(() => node.budgets.hold(caller, node.context(), nano(50)));
		expect(whileHeld.code).toBe("INSUFFICIENT_BALANCE");
		expect(whileHeld.status).toBe(402);
		expect(whileHeld.options.retryAfterSeconds).toBe(1);
		expect(whileHeld.message).toContain("running requests hold");
		const never = await refused(() => node.budgets.hold(caller, node.context(), nano(101)));
		expect(never.options.retryAfterSeconds).toBeUndefined();
		expect(never.message).toContain("add credit");
	});

	test("a store that fails is a 503, leaves no hold, and the money is there when it answers again", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		node.store.failing = true;
		const errors = await Promise.all(
			Array.from({ length: 5 }, () => refused(() => node.budgets.hold(caller, node.context(), nano(10)))),
		);
		for (const error of errors) {
			expect(error.code).toBe("SERVICE_UNAVAILABLE");
			expect(error.options.retryAfterSeconds).toBe(1);
			expect(error.message).not.toContain("acquire");
		}
		expect(node.budgets.holdsOpen).toBe(0);
		node.store.failing = false;
		const hold = await node.budgets.hold(caller, node.context(), nano(100));
		hold.void();
		expect(node.budgets.holdsOpen).toBe(0);
	});

	test("goes on with what the node has while the store fails", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		(await node.budgets.hold(caller, node.context(), nano(10))).void();
		node.store.failing = true;
		expect(node.budgets.hold(caller, node.context(), nano(100))).not.toBeInstanceOf(Promise);
	});

	test("takes no new work where the journal has no room, and running requests still post", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const hold = await node.budgets.hold(caller, node.context(), nano(10));
		node.journal.full = { reason: "disk", message: "The disk is full", retryAfterSeconds: 5 };
		const error = await refused(() => node.budgets.hold(caller, node.context(), nano(0)));
		expect([error.status, error.message, error.options.retryAfterSeconds]).toEqual([503, "The disk is full", 5]);
		expect(hold.post(priced(5))?.priceNano).toBe(nano(5));
	});

	test("refuses what is no amount, before anything is taken", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		for (const wrong of [-1, 1.5, Number.NaN, 2 ** 53]) {
			expect(() => node.budgets.hold(caller, node.context(), wrong as never)).toThrow(MoneyError);
		}
		expect(node.budgets.holdsOpen).toBe(0);
	});
});

describe("post", () => {
	async function richNode() {
		const node = testNode();
		node.store.addAccount("a", { stakeDiem: 10, bundled: 20, usd: 100 });
		node.store.addKey("k", "a");
		return { ...node, caller: await node.caller("k") };
	}

	test("spends diem, then bundled, then usd, line by line", async () => {
		const node = await richNode();
		const hold = await node.budgets.hold(node.caller, node.context(), nano(50));
		const posted = hold.post({
			lines: [
				{ sku: "input", units: 8, picoPrice: pico(1000) },
				{ sku: "cached", units: 0, picoPrice: pico(1000) },
				{ sku: "output", units: 27, picoPrice: pico(1000) },
			],
			usage: null,
			status: 200,
			upstream: "u",
		});
		expect(posted).toMatchObject({ priceNano: 35, diem: 10, usd: 25, overrun: 0 });
		const [record] = node.journal.posts;
		expect(record?.lines.map(({ sku, from }) => [sku, from])).toEqual([
			["input", [{ source: "diem", amount: nano(8) }]],
			["cached", []],
			[
				"output",
				[
					{ source: "diem", amount: nano(2) },
					{ source: "bundled", amount: nano(20) },
					{ source: "usd", amount: nano(5) },
				],
			],
		]);
		expect(record).toMatchObject({ accountId: "a", keyId: "key-k", holdNano: 50, priceNano: 35, status: 200, upstream: "u" });
	});

	test("takes what passes the hold from free money, and owes the rest, which the operator bears where the store has none", async () => {
		const node = await richNode();
		const other = await node.budgets.hold(node.caller, node.context(), nano(100));
		const hold = await node.budgets.hold(node.caller, node.context(), nano(5));
		expect(hold.post(priced(200))).toMatchObject({
			priceNano: 200,
			diem: 0,
			usd: 30,
			owed: 170,
			overrun: 0,
			expected: { usd: 0, diem: 0 },
		});
		expect(other.post(priced(100))).toMatchObject({ priceNano: 100, diem: 10, usd: 90, overrun: 0 });
		await node.store.settled();
		expect(node.store.overrun).toBe(170);
		expect(node.store.balance("a", "usd")).toBe(0);
	});

	test("tells of what it owes what the account has elsewhere", async () => {
		const node = await richNode();
		node.store.thrifty = true;
		const hold = await node.budgets.hold(node.caller, node.context(), nano(5));
		const posted = hold.post(priced(200));
		expect(posted?.usd ?? 0).toBeLessThan(200);
		await node.store.settled();
		const told = (posted?.usd ?? 0) + (posted?.expected.usd ?? 0) + (posted?.diem ?? 0) + (posted?.expected.diem ?? 0);
		expect(told + node.store.overrun).toBe(200);
		expect(node.store.spent("a", "diem")).toBe((posted?.diem ?? 0) + (posted?.expected.diem ?? 0));
	});

	test("settles once: whatever comes after the first post or void does nothing", async () => {
		const node = await richNode();
		const posted = await node.budgets.hold(node.caller, node.context(), nano(10));
		expect(posted.post(priced(10))).not.toBeNull();
		expect(posted.post(priced(10))).toBeNull();
		posted.void();
		const voided = await node.budgets.hold(node.caller, node.context(), nano(10));
		voided.void();
		voided.void();
		expect(voided.post(priced(10))).toBeNull();
		expect(node.journal.posts).toHaveLength(1);
		expect(node.budgets.holdsOpen).toBe(0);
		expect(node.budgets.hold(node.caller, node.context(), nano(120))).not.toBeInstanceOf(Promise);
	});

	test("leaves the hold open where its lines are wrong, so that a void can end it", async () => {
		const node = await richNode();
		const hold = await node.budgets.hold(node.caller, node.context(), nano(10));
		const wrong = { lines: [{ sku: "s", units: 1.5, picoPrice: pico(1000) }], usage: null, status: 200, upstream: null };
		expect(() => hold.post(wrong)).toThrow(MoneyError);
		expect(node.budgets.holdsOpen).toBe(1);
		hold.void();
		expect(node.budgets.holdsOpen).toBe(0);
		expect(node.journal.posts).toHaveLength(0);
	});

	test("writes one record at price 0 too, without a hold", async () => {
		const node = testNode();
		node.store.addAccount("poor");
		node.store.addKey("k", "poor");
		const caller = await node.caller("k");
		const hold = await node.budgets.hold(caller, node.context(), nano(0));
		expect(node.budgets.holdsOpen).toBe(0);
		expect(node.store.calls).not.toContain("acquire");
		const posted = hold.post({ lines: [{ sku: "s", units: 7, picoPrice: pico(0) }], usage: null, status: 200, upstream: null });
		expect(posted).toMatchObject({ priceNano: 0, usd: 0, diem: 0, overrun: 0 });
		expect(node.journal.posts).toEqual([
			expect.objectContaining({ priceNano: 0, lines: [{ sku: "s", units: 7, picoPrice: pico(0), from: [], overrun: nano(0) }] }),
		]);
	});

	test("goes to the day of the admission, also after midnight", async () => {
		const node = testNode({ at: "2026-02-28T23:59:59.000Z" });
		node.store.addAccount("a", { stakeDiem: 10, usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const day = utcDay(node.clock.wallMs());
		const before = await node.budgets.hold(caller, node.context(), nano(10));
		node.clock.advance(2_000);
		const after = await node.budgets.hold(caller, node.context(), nano(15));
		expect(before.post(priced(10))).toMatchObject({ diem: 10, usd: 0 });
		expect(after.post(priced(15))).toMatchObject({ diem: 10, usd: 5 });
		expect(node.journal.posts.map((post) => post.day)).toEqual([day, day + 1]);
	});

	test("never spends what is left of an old epoch", async () => {
		const node = testNode({ at: "2026-03-31T10:00:00Z" });
		node.store.addAccount("a", { stakeDiem: 10 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		(await node.budgets.hold(caller, node.context(), nano(4))).post(priced(4));
		node.clock.advance(86_400_000);
		await refused(() => node.budgets.hold(caller, node.context(), nano(11)));
		expect((await node.budgets.hold(caller, node.context(), nano(10))).post(priced(10))).toMatchObject({ diem: 10 });
	});

	test("asks for the new day's diem before it spends usd that the node still has", async () => {
		const node = testNode();
		node.store.addAccount("a", { stakeDiem: 10, usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		(await node.budgets.hold(caller, node.context(), nano(50))).post(priced(50));
		node.clock.advance(86_400_000);
		expect((await node.budgets.hold(caller, node.context(), nano(5))).post(priced(5))).toMatchObject({ diem: 5, usd: 0 });
	});
});

describe("balances", () => {
	test("are the store's totals minus own posts, with holds not taken off", async () => {
		const node = testNode();
		node.store.addAccount("a", { stakeDiem: 10, bundled: 20, usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		expect(caller.balances()).toEqual({ usd: nano(120), diem: nano(0) });
		const hold = await node.budgets.hold(caller, node.context(), nano(50));
		expect(caller.balances()).toEqual({ usd: nano(120), diem: nano(10) });
		hold.post(priced(35));
		expect(caller.balances()).toEqual({ usd: nano(95), diem: nano(0) });
	});

	test("count a post once, whether or not the answer under way holds it", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const holds: Hold[] = [];
		for (let i = 0; i < 3; i++) holds.push(await node.budgets.hold(caller, node.context(), nano(10)));
		node.store.auto = false;
		holds[0]?.post(priced(1));
		const asks = refused(() => node.budgets.hold(caller, node.context(), nano(1_000)));
		holds[1]?.post(priced(2));
		await turns();
		holds[2]?.post(priced(4));
		node.store.step();
		await asks;
		expect(caller.balances().usd).toBe(nano(93));
	});

	test("follow a credit after its notice", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		await node.caller("k");
		node.store.credit("a", "usd", 50);
		node.store.notify({ kind: "account", accountId: "a" });
		expect((await node.caller("k")).balances().usd).toBe(nano(150));
	});
});

describe("a change notice of an account", () => {
	test("gives what no hold needs back to the store, and what holds need stays", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const hold = await node.budgets.hold(caller, node.context(), nano(30));
		node.store.notify({ kind: "account", accountId: "a" });
		await turns();
		expect(node.store.leased("a", "usd")).toBe(30);
		expect(node.store.debitFree("a", "usd", 70)).toBe(70);
		await refused(() => node.budgets.hold(caller, node.context(), nano(1)));
		hold.post(priced(20));
		await node.store.settled();
		expect((await node.budgets.hold(caller, node.context(), nano(10))).amount).toBe(nano(10));
	});

	test("keeps the books where a post falls into the same turn as the giving back", async () => {
		for (const idle of [0, 5, 70]) {
			const node = testNode();
			node.store.addAccount("a", { usd: 30 + idle });
			node.store.addKey("k", "a");
			const caller = await node.caller("k");
			const hold = await node.budgets.hold(caller, node.context(), nano(30));
			const touch = await node.budgets.hold(caller, node.context(), nano(0));
			touch.post(priced(0));
			node.store.notify({ kind: "account", accountId: "a" });
			hold.post(priced(20));
			await turns();
			const rest = await node.budgets.hold(caller, node.context(), nano(10 + idle));
			expect(await refused(() => node.budgets.hold(caller, node.context(), nano(1)))).toMatchObject({ status: 402 });
			rest.post(priced(10 + idle));
			await node.store.settled();
			expect(node.store.balance("a", "usd")).toBe(0);
		}
	});

	test("does not let usd that a hold leaves over go before the diem that went back", async () => {
		const node = testNode();
		node.store.addAccount("a", { stakeDiem: 50, usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const hold = await node.budgets.hold(caller, node.context(), nano(80));
		node.store.credit("a", "diem", 20, utcDay(node.clock.wallMs()));
		node.store.notify({ kind: "account", accountId: "a" });
		await turns();
		hold.post(priced(60));
		expect((await node.budgets.hold(caller, node.context(), nano(15))).post(priced(15))).toMatchObject({ diem: 15, usd: 0 });
	});
});
