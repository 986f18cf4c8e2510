/** Idempotency keys of wallets on the chain proxy: a key is the wallet's, whoever pays for the request. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { RPC_CALL_NANO, startWalletGateway, type WalletGateway } from "../support/wallet-gateway.ts";
import { testWallet } from "../support/wallets.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway({ config: { limits: { failedRequests: 0 } } });
});
afterAll(() => fixture.stop());

test("a request that the diem of a linked account paid is answered again, not made and charged again", async () => {
	const wallet = testWallet();
	const own = await fixture.fund(wallet, "1");
	const staker = await fixture.gate.newKey({ creditUsd: "50", changes: { wallet: wallet.address } });
	await fixture.stakeToday(staker.accountId, 0.1);
	const signedIn = await wallet.signIn(fixture.gate.url);
	const call = async (key: string, credential: Record<string, string> = signedIn) => {
		const answer = await fixture.rpc({ ...credential, "Idempotency-Key": key });
		return [answer.status, answer.headers.get("idempotent-replayed")];
	};
	expect(await call("by-diem")).toEqual([200, null]);
	// Leaves less diem than a call costs.
	expect((await fixture.chat(signedIn, 9_997)).headers.get("x-balance-remaining")).toBe("1.000000");
	for (let turn = 0; turn < 2; turn++) expect(await call("by-diem")).toEqual([200, "true"]);
	expect(await fixture.gate.balance(own)).toBe(1_000_000_000);

	expect(await call("by-balance")).toEqual([200, null]);
	expect(await call("by-balance")).toEqual([200, "true"]);
	expect(await fixture.gate.balance(own)).toBe(1_000_000_000 - RPC_CALL_NANO);
	// The account's keys have keys of their own: none of them is answered with what a wallet asked.
	expect(await call("by-diem", { authorization: `Bearer ${staker.secret}` })).toEqual([200, null]);
});

test("the credits of a day are the wallet's, whoever pays: the store counts them as the node does", async () => {
	const wallet = testWallet();
	const own = await fixture.fund(wallet, "1");
	const staker = await fixture.gate.newKey({ changes: { wallet: wallet.address } });
	await fixture.stakeToday(staker.accountId, 0.1);
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (let turn = 0; turn < 3; turn++) expect((await fixture.rpc(signedIn)).status).toBe(200);
	// The diem of the other account paid.
	expect(await fixture.gate.balance(own)).toBe(1_000_000_000);
	const { store } = fixture.gate.openedStore;
	await store.settled();
	const counted = await store.rpcCredits({ accountIds: [own, staker.accountId], fromBucket: 0 });
	expect(counted.map(({ accountId, credits }) => [accountId, credits])).toEqual([[own, 60]]);
});
