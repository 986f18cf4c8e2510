import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testWallet } from "../../../test/support/wallets.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway({ config: { limits: { failedRequests: 0, walletReadsPerMinute: 3 } } });
});
afterAll(() => fixture.stop());

const wallet = testWallet();

test("400 for a limit or an offset that is none", async () => {
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (const query of ["limit=0", "limit=101", "limit=1.5", "limit=x", "offset=-1", "offset=1.5", "offset=x", "offset=1e3"]) {
		const answer = await fixture.get(`/x402/transactions/${wallet.address}?${query}`, signedIn);
		expect(answer.status).toBe(400);
		expect(await answer.json()).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: [query.split("=")[0]] }] });
	}
});

test("400 for a parameter that there is not, on the balance too", async () => {
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (const route of ["transactions", "balance"]) {
		const answer = await fixture.get(`/x402/${route}/${wallet.address}?wallet=${testWallet().address}`, signedIn);
		expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("wallet: is not a query parameter here")]);
	}
});

test("400 where the path names no wallet, 403 for the wallet of another", async () => {
	const signedIn = await wallet.signIn(fixture.gate.url);
	expect((await fixture.get("/x402/transactions/nobody", signedIn)).status).toBe(400);
	const other = await fixture.get(`/x402/transactions/${testWallet().address}?limit=0`, signedIn);
	expect([other.status, await other.json()]).toMatchObject([403, { code: "X402_WALLET_MISMATCH" }]);
});

test("401 without a sign-in, and with a key alone", async () => {
	for (const headers of [{}, { authorization: `Bearer ${fixture.gate.key}` }]) {
		const answer = await fixture.get(`/x402/transactions/${wallet.address}`, headers);
		expect([answer.status, await answer.json()]).toMatchObject([401, { code: "AUTHENTICATION_FAILED" }]);
	}
});

test("405 for another method", async () => {
	expect((await fixture.post(`/x402/transactions/${wallet.address}`)).status).toBe(405);
});

test("429 past the limit of a minute", async () => {
	const other = testWallet();
	const signedIn = await other.signIn(fixture.gate.url);
	const statuses: number[] = [];
	for (let turn = 0; turn < 4; turn++) statuses.push((await fixture.get(`/x402/transactions/${other.address}`, signedIn)).status);
	expect(statuses).toEqual([200, 200, 200, 429]);
});
