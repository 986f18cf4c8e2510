import { expect, test } from "bun:test";
import { nano } from "../ledger/nano.ts";
import { systemTimers } from "../telemetry/clock.ts";
import { CachedAccount } from "./cached-account.ts";
import { IdleLeases } from "./idle-leases.ts";
import { testNode, turns } from "./testing/test-node.ts";

/** Returns an account that leased 100, and a service whose ticks the test triggers. */
async function leased() {
	const { store, clock } = testNode();
	const account = new CachedAccount(
		store.addAccount("a", { usd: 100 }),
		{ store, clock, timers: systemTimers, journal: store.journal },
		false,
	);
	await account.leases.enter({
		day: 0,
		attempt: () => (account.money.usd.leased > 0 ? true : undefined),
		shortfall: () => 1,
		usableElsewhere: () => undefined,
		moreMoneyHelps: () => true,
		allowPartial: false,
	});
	expect(store.leased("a", "usd")).toBe(100);
	const idle = new IdleLeases();
	idle.stop();
	const ticks = async (count: number) => {
		for (let i = 0; i < count; i++) idle.tick();
		await turns();
	};
	return { store, account, idle, ticks };
}

test("a lease that nobody uses goes back after 5 s, and not before", async () => {
	const { store, account, idle, ticks } = await leased();
	idle.note(account);
	await ticks(4);
	expect(store.leased("a", "usd")).toBe(100);
	await ticks(1);
	expect(store.leased("a", "usd")).toBe(0);
	expect(account.money.usd.leased).toBe(0);
});

test("use puts it off, and an open hold keeps the whole lease", async () => {
	const { store, account, idle, ticks } = await leased();
	idle.note(account);
	await ticks(3);
	idle.note(account);
	await ticks(4);
	account.holds = 1;
	await ticks(10);
	expect(store.leased("a", "usd")).toBe(100);
	account.holds = 0;
	await ticks(1);
	expect(store.leased("a", "usd")).toBe(0);
});

test("the next request gets the money again", async () => {
	const node = testNode();
	node.store.addAccount("a", { usd: 100 });
	node.store.addKey("k", "a");
	const caller = await node.caller("k");
	(await node.budgets.hold(caller, node.context(), nano(10))).void();
	for (let i = 0; i < 5; i++) node.idleLeases.tick();
	await turns();
	expect(node.store.leased("a", "usd")).toBe(0);
	expect((await node.budgets.hold(caller, node.context(), nano(100))).amount).toBe(nano(100));
});
