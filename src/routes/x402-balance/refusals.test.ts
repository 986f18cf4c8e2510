import { afterAll, beforeAll, expect, test } from "bun:test";
import { disableAccount } from "../../../src/store/admin.ts";
import { until } from "../../../test/support/until.ts";
import { startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testSolanaWallet, testWallet } from "../../../test/support/wallets.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway({ config: { limits: { failedRequests: 0 } } });
});
afterAll(() => fixture.stop());

test("400 where the path names no wallet", async () => {
	const signedIn = await testWallet().signIn(fixture.gate.url);
	for (const path of [
		"0x",
		`0x${"1".repeat(39)}`,
		`0x${"1".repeat(41)}`,
		`0x${"g".repeat(40)}`,
		"1".repeat(31),
		"0".repeat(40),
	]) {
		const answer = await fixture.get(`/x402/balance/${path}`, signedIn);
		expect(answer.status).toBe(400);
		expect(await answer.json()).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: ["walletAddress"] }] });
	}
});

test("403 for the wallet of another, on any chain", async () => {
	const wallet = testWallet();
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (const other of [testWallet().address, testSolanaWallet().address]) {
		const answer = await fixture.get(`/x402/balance/${other}`, signedIn);
		expect(answer.status).toBe(403);
		expect(await answer.json()).toMatchObject({ code: "X402_WALLET_MISMATCH" });
	}
	expect((await fixture.get(`/x402/balance/${wallet.address}`, testSolanaWallet().signIn(fixture.gate.url))).status).toBe(403);
});

test("403 where the wallet's account is disabled", async () => {
	const wallet = testWallet();
	const accountId = await fixture.fund(wallet, "5");
	const signedIn = await wallet.signIn(fixture.gate.url);
	await disableAccount(fixture.gate.admin, accountId);
	await until(async () => (await fixture.get(`/x402/balance/${wallet.address}`, signedIn)).status === 403, "the refusal");
	const answer = await fixture.get(`/x402/balance/${wallet.address}`, signedIn);
	expect(await answer.json()).toMatchObject({ code: "API_ACCESS_DISABLED" });
});

test("405 for another method, with those that are taken", async () => {
	const answer = await fixture.post(`/x402/balance/${testWallet().address}`);
	expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test("429 past the limit of a minute, for this wallet alone", async () => {
	const limited = await startWalletGateway({ config: { limits: { walletReadsPerMinute: 2 } } });
	try {
		const wallet = testWallet();
		const signedIn = await wallet.signIn(limited.gate.url);
		const statuses: number[] = [];
		for (let turn = 0; turn < 3; turn++) statuses.push((await limited.get(`/x402/balance/${wallet.address}`, signedIn)).status);
		expect(statuses).toEqual([200, 200, 429]);
		const answer = await limited.get(`/x402/balance/${wallet.address}`, signedIn);
		expect(await answer.json()).toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
		expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
		const other = testWallet();
		expect((await limited.get(`/x402/balance/${other.address}`, await other.signIn(limited.gate.url))).status).toBe(200);
	} finally {
		await limited.stop();
	}
});
