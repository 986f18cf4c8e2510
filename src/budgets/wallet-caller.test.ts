import { describe, expect, test } from "bun:test";
import { ownName, walletKey } from "../store/wallet-callers.ts";
import { testNode } from "./testing/test-node.ts";

const IDENTITY = "eip155:8453:0x00000000000000000000000000000000000000a1";

/** Applies a top-up at another node whose notice has not arrived yet. */
function topUpElsewhere({ store }: ReturnType<typeof testNode>, usd: number): void {
	const account = store.accounts.get("w") ?? store.addAccount("w");
	store.credit("w", "usd", usd);
	store.keys.set(ownName(IDENTITY), walletKey(ownName(IDENTITY), account));
}

const balance = async (node: ReturnType<typeof testNode>) => (await node.budgets.wallet(IDENTITY)).balances().usd as number;

describe("a wallet that seems to have nothing", () => {
	test("is looked at again where nodes share the store: it may have topped up at another one", async () => {
		const node = testNode();
		node.store.shared = true;
		expect(await balance(node)).toBe(0);
		topUpElsewhere(node, 50_000_000);
		node.clock.advance(100);
		expect(await balance(node)).toBe(50_000_000);
		topUpElsewhere(node, 5_000_000_000);
		node.clock.advance(100);
		expect(await balance(node)).toBe(5_050_000_000);
	});

	test("is looked at every 100 ms at most, however often it calls", async () => {
		const node = testNode();
		node.store.shared = true;
		await balance(node);
		const before = node.store.calls.length;
		for (let turn = 0; turn < 50; turn++) await balance(node);
		expect(node.store.calls.length).toBe(before);
	});

	test("is believed to have nothing where this node alone changes the store, which tells it", async () => {
		const node = testNode();
		expect(await balance(node)).toBe(0);
		topUpElsewhere(node, 5_000_000_000);
		node.clock.advance(100);
		expect(await balance(node)).toBe(0);
		node.store.notifyKey(ownName(IDENTITY));
		expect(await balance(node)).toBe(5_000_000_000);
	});
});
