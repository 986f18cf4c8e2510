import { afterAll, beforeAll, expect, test } from "bun:test";
import { RPC_CALL_NANO, startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testSolanaWallet, testWallet } from "../../../test/support/wallets.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway();
});
afterAll(() => fixture.stop());

const read = (address: string, headers: Record<string, string>) => fixture.get(`/x402/balance/${address}`, headers);

test("a wallet that never topped up has nothing, and may not consume", async () => {
	const wallet = testWallet();
	const answer = await read(wallet.address, await wallet.signIn(fixture.gate.url));
	expect(answer.status).toBe(200);
	expect(await answer.json()).toEqual({
		success: true,
		data: {
			walletAddress: wallet.address.toLowerCase(),
			balanceUsd: 0,
			canConsume: false,
			minimumTopUpUsd: 5,
			suggestedTopUpUsd: 10,
			diemBalanceUsd: 0,
		},
	});
	expect(answer.headers.get("x-balance-remaining")).toBe("0.000000");
	expect(answer.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
	expect(await fixture.gate.admin.db.selectFrom("accounts").select("id").where("identity", "is not", null).execute()).toEqual([]);
});

test("takes the address in any case, and a Solana wallet", async () => {
	const wallet = testWallet();
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (const address of [wallet.address.toLowerCase(), `0x${wallet.address.slice(2).toUpperCase()}`])
		expect((await read(address, signedIn)).status).toBe(200);
	const solana = testSolanaWallet();
	const answer = await read(solana.address, solana.signIn(fixture.gate.url));
	expect(await answer.json()).toMatchObject({ data: { walletAddress: solana.address, balanceUsd: 0 } });
});

test("holds every charge that was answered before", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "5.25");
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (let calls = 1; calls <= 3; calls++) {
		expect((await fixture.rpc(signedIn)).status).toBe(200);
		const { data } = (await (await read(wallet.address, signedIn)).json()) as { data: { balanceUsd: number } };
		expect(Math.round(data.balanceUsd * 1e9)).toBe(5_250_000_000 - calls * RPC_CALL_NANO);
	}
});

test("10 cents are enough to consume, less are not", async () => {
	for (const [usd, canConsume] of [
		["0.1", true],
		["0.099999999", false],
	] as const) {
		const wallet = testWallet();
		await fixture.fund(wallet, usd);
		const answer = await read(wallet.address, await wallet.signIn(fixture.gate.url));
		expect(await answer.json()).toMatchObject({ data: { balanceUsd: Number(usd), canConsume } });
	}
});

test("diem of the account that the wallet is linked to counts, its other money does not", async () => {
	const wallet = testWallet();
	const { accountId } = await fixture.gate.newKey({ creditUsd: "50", changes: { wallet: wallet.address } });
	await fixture.stakeToday(accountId, 3);
	const answer = await read(wallet.address, await wallet.signIn(fixture.gate.url));
	expect(await answer.json()).toMatchObject({ data: { balanceUsd: 0, canConsume: true, diemBalanceUsd: 3 } });
});
