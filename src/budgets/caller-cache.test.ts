import { describe, expect, test } from "bun:test";
import { nano, pico } from "../ledger/nano.ts";
import { priced, refused, testNode, turns } from "./testing/test-node.ts";

const loads = (calls: readonly string[]) => calls.filter((name) => name === "loadKey").length;

describe("a caller", () => {
	test("is read once for all who ask at the same time, and is the same object from then on", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 1 });
		node.store.addKey("k", "a");
		const found = await Promise.all(Array.from({ length: 20 }, () => node.budgets.caller("k")));
		expect(new Set(found).size).toBe(1);
		expect(loads(node.store.calls)).toBe(1);
		expect(node.budgets.caller("k")).toBe(found[0] ?? null);
	});

	test("that is unknown is remembered for 1 s", async () => {
		const node = testNode();
		expect(await node.budgets.caller("nobody")).toBeNull();
		node.clock.advance(999);
		expect(node.budgets.caller("nobody")).toBeNull();
		expect(loads(node.store.calls)).toBe(1);
		node.clock.advance(1);
		expect(await node.budgets.caller("nobody")).toBeNull();
		expect(loads(node.store.calls)).toBe(2);
	});

	test("that is made after it was asked for is known with its notice", async () => {
		const node = testNode();
		expect(await node.budgets.caller("k")).toBeNull();
		node.store.addAccount("a");
		node.store.addKey("k", "a");
		node.store.notifyKey("k");
		expect(await node.budgets.caller("k")).not.toBeNull();
	});

	test("that is made while it is being read is known too", async () => {
		const node = testNode();
		node.store.auto = false;
		const asked = node.budgets.caller("k");
		node.store.step();
		node.store.addAccount("a");
		node.store.addKey("k", "a");
		node.store.notifyKey("k");
		node.store.auto = true;
		expect(await asked).not.toBeNull();
	});

	test("is nobody from its expiry on, by the clock of each call", async () => {
		const node = testNode({ at: "2026-03-10T12:00:00Z" });
		node.store.addAccount("a");
		node.store.addKey("k", "a", { expiresAtMs: Date.parse("2026-03-10T12:00:05Z") });
		expect(await node.budgets.caller("k")).not.toBeNull();
		node.clock.advance(4_999);
		expect(node.budgets.caller("k")).not.toBeNull();
		node.clock.advance(1);
		expect(node.budgets.caller("k")).toBeNull();
	});

	test("is nobody after its revocation; a request under way still posts, one that had not begun may not hold", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		const hold = await node.budgets.hold(caller, node.context(), nano(10));
		const change = { kind: "key", keyId: caller.key.id, accountId: "a", hash: "k" } as const;
		node.store.keys.delete("k");
		node.store.notify(change);
		expect(await node.budgets.caller("k")).toBeNull();
		const error = await refused(() => node.budgets.hold(caller, node.context(), nano(1)));
		expect([error.status, error.code]).toEqual([401, "AUTHENTICATION_FAILED"]);
		expect(hold.post(priced(7))).toMatchObject({ usd: 7 });
		await turns();
		expect(node.store.leased("a", "usd")).toBe(0);
		expect(node.store.balance("a", "usd")).toBe(93);
	});

	test("carries its account as it is now", async () => {
		const node = testNode();
		const account = node.store.addAccount("a");
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		node.store.accounts.set("a", { ...account, disabled: true });
		node.store.notify({ kind: "account", accountId: "a" });
		expect(await node.budgets.caller("k")).toBe(caller);
		expect(caller.account.disabled).toBe(true);
	});

	test("that cannot be read is a 503, and is read again by the next request", async () => {
		const node = testNode();
		node.store.addAccount("a");
		node.store.addKey("k", "a");
		node.store.failing = true;
		expect((await refused(() => node.budgets.caller("k"))).status).toBe(503);
		node.store.failing = false;
		const caller = await node.caller("k");
		node.store.failing = true;
		node.store.notifyKey("k");
		await turns();
		expect((await refused(() => node.budgets.caller("k"))).status).toBe(503);
		node.store.failing = false;
		expect(await node.budgets.caller("k")).toBe(caller);
	});

	test("has the day's diem in its balances after midnight", async () => {
		const node = testNode({ at: "2026-03-10T23:59:59Z" });
		node.store.addAccount("a", { stakeDiem: 10 });
		node.store.addKey("k", "a");
		const caller = await node.caller("k");
		(await node.budgets.hold(caller, node.context(), nano(8))).post(priced(8));
		expect(caller.balances().diem).toBe(nano(2));
		node.clock.advance(2_000);
		await node.caller("k");
		expect(caller.balances().diem).toBe(nano(0));
		(await node.budgets.hold(caller, node.context(), nano(1))).void();
		expect(caller.balances().diem).toBe(nano(10));
	});
});

describe("a key's use", () => {
	test("is written into the journal at most once a minute", async () => {
		const node = testNode();
		node.store.addAccount("a");
		node.store.addKey("k", "a");
		const touches = () => node.journal.groups.flatMap((group) => group.records.filter((record) => record.t === "touch"));
		await node.caller("k");
		for (let i = 0; i < 59; i++) {
			node.clock.advance(1_000);
			node.budgets.caller("k");
		}
		expect(touches()).toHaveLength(1);
		node.clock.advance(1_000);
		node.budgets.caller("k");
		expect(touches()).toEqual([
			{ t: "touch", keyId: "key-k", atMs: Date.parse("2026-03-10T12:00:00Z") },
			{ t: "touch", keyId: "key-k", atMs: Date.parse("2026-03-10T12:01:00Z") },
		]);
	});

	test("is not written where the journal has no room", async () => {
		const node = testNode();
		node.store.addAccount("a");
		node.store.addKey("k", "a");
		node.journal.full = { reason: "disk", message: "full", retryAfterSeconds: 5 };
		await node.caller("k");
		expect(node.journal.groups).toHaveLength(0);
	});
});

describe("the cache", () => {
	async function fill(node: ReturnType<typeof testNode>, from: number, to: number): Promise<void> {
		for (let i = from; i < to; i++) {
			node.store.addAccount(`a${i}`, { usd: 100 });
			node.store.addKey(`k${i}`, `a${i}`);
			await node.caller(`k${i}`);
		}
		await turns();
	}

	test("lets the keys go that were not used lately, and gives their leases back", async () => {
		const node = testNode({ maxCallers: 10 });
		await fill(node, 0, 1);
		const caller = await node.caller("k0");
		(await node.budgets.hold(caller, node.context(), nano(10))).post(priced(10));
		await node.store.settled();
		expect(node.store.leased("a0", "usd")).toBe(90);
		await fill(node, 1, 40);
		expect(node.store.leased("a0", "usd")).toBe(0);
		const before = loads(node.store.calls);
		await node.caller("k0");
		expect(loads(node.store.calls)).toBe(before + 1);
	});

	test("keeps a key that has an open hold, or a post that the store has not applied", async () => {
		const node = testNode({ maxCallers: 10 });
		await fill(node, 0, 2);
		const holding = await node.caller("k0");
		const hold = await node.budgets.hold(holding, node.context(), nano(10));
		const posting = await node.caller("k1");
		await node.budgets.hold(posting, node.context(), nano(10)).valueOf();
		for (let i = 2; i < 60; i++) {
			(await node.budgets.hold(posting, node.context(), nano(1))).post(priced(1));
			await fill(node, i, i + 1);
		}
		expect(node.budgets.caller("k0")).toBe(holding);
		hold.void();
	});

	test("keeps the key in use while many others pass by", async () => {
		const node = testNode({ maxCallers: 10 });
		await fill(node, 0, 1);
		const caller = await node.caller("k0");
		for (let i = 1; i < 100; i++) {
			expect(node.budgets.caller("k0")).toBe(caller);
			await fill(node, i, i + 1);
		}
	});

	test("a request whose key left the cache meanwhile holds on the key that took its place", async () => {
		const node = testNode({ maxCallers: 5 });
		await fill(node, 0, 1);
		const stale = await node.caller("k0");
		await fill(node, 1, 30);
		const fresh = await node.caller("k0");
		expect(fresh).not.toBe(stale);
		const held = await node.budgets.hold(fresh, node.context(), nano(60));
		await refused(() => node.budgets.hold(stale, node.context(), nano(50)));
		const second = await node.budgets.hold(stale, node.context(), nano(40));
		node.store.notify({ kind: "account", accountId: "a0" });
		await turns();
		held.post(priced(60));
		second.post(priced(40));
		await node.store.settled();
		expect(node.store.balance("a0", "usd")).toBe(0);
	});

	test("an account whose lease could not be given back is settled when it comes again", async () => {
		const node = testNode({ maxCallers: 5 });
		await fill(node, 0, 1);
		(await node.budgets.hold(await node.caller("k0"), node.context(), nano(10))).void();
		node.store.auto = false;
		const loading = (async () => {
			for (let i = 1; i < 30; i++) {
				node.store.addAccount(`a${i}`);
				node.store.addKey(`k${i}`, `a${i}`);
				await node.caller(`k${i}`);
			}
		})();
		let done = false;
		loading.then(() => {
			done = true;
		});
		for (let i = 0; !done && i < 500; i++) {
			node.store.step(node.store.next === "giveBack" ? "fail" : "answer");
			await turns(1);
		}
		expect(node.store.leased("a0", "usd")).toBe(100);
		node.store.auto = true;
		const again = await node.caller("k0");
		expect((await node.budgets.hold(again, node.context(), nano(100))).amount).toBe(nano(100));
	});

	test("an account whose lease could not be given back gives it at its next notice", async () => {
		const node = testNode();
		await fill(node, 0, 1);
		const caller = await node.caller("k0");
		const hold = await node.budgets.hold(caller, node.context(), nano(10));
		node.store.keys.delete("k0");
		node.store.notify({ kind: "key", keyId: caller.key.id, accountId: "a0", hash: "k0" });
		await turns();
		node.store.failing = true;
		hold.void();
		await turns();
		expect(node.store.leased("a0", "usd")).toBe(100);
		node.store.failing = false;
		node.store.notify({ kind: "account", accountId: "a0" });
		await turns();
		expect(node.store.leased("a0", "usd")).toBe(0);
	});

	test("a recall gives back what no hold needs, and reads nothing again", async () => {
		const node = testNode();
		node.store.addAccount("a", { usd: 100 });
		node.store.addKey("k", "a");
		const hold = await node.budgets.hold(await node.caller("k"), node.context(), nano(30));
		expect(node.store.leased("a", "usd")).toBe(100);
		const before = node.store.calls.length;
		node.store.notify({ kind: "recall", accountId: "a" });
		await turns();
		expect(node.store.leased("a", "usd")).toBe(30);
		expect(node.store.calls.slice(before)).toEqual(["giveBack"]);
		hold.void();
	});

	test("an account stays while a request of its revoked key counts its prompt", async () => {
		const node = testNode();
		await fill(node, 0, 1);
		const caller = await node.caller("k0");
		(await node.budgets.hold(caller, node.context(), nano(10))).void();
		const counting = Promise.withResolvers<number>();
		const asked = node.budgets.holdCeiling(caller, node.context(), {
			promptTokensBound: 100,
			promptTokensAtLeast: 1,
			callerMaxTokens: 50,
			modelMaxTokens: 50,
			contextTokens: 1_000,
			choices: 1,
			inputPrice: pico(1_000),
			outputPrice: pico(1_000),
			countPromptTokens: () => counting.promise,
		});
		await turns();
		node.store.keys.delete("k0");
		node.store.notify({ kind: "key", keyId: caller.key.id, accountId: "a0", hash: "k0" });
		await turns();
		counting.resolve(5);
		const { hold } = await asked;
		expect(node.store.leased("a0", "usd")).toBeGreaterThanOrEqual(hold.amount);
		hold.post(priced(55));
		await turns();
		await node.store.settled();
		expect([node.store.balance("a0", "usd"), node.store.leased("a0", "usd")]).toEqual([45, 0]);
	});
});
