import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testWallet } from "../../../test/support/wallets.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway();
});
afterAll(() => fixture.stop());

const wallet = testWallet();

test("without a sign-in, and with a key alone", async () => {
	for (const headers of [{}, { authorization: `Bearer ${fixture.gate.key}` }]) {
		const answer = await fixture.get(`/x402/balance/${wallet.address}`, headers);
		expect(answer.status).toBe(401);
		expect(answer.headers.get("www-authenticate")).toBe("Bearer");
		expect(await answer.json()).toEqual({
			error: expect.stringMatching(/^Authentication failed: the request has no key/),
			code: "AUTHENTICATION_FAILED",
		});
	}
});

test("with a sign-in that is none, a key beside it or not", async () => {
	const { "X-Sign-In-With-X": header = "" } = await wallet.signIn("http://elsewhere.test");
	for (const more of [{}, { authorization: `Bearer ${fixture.gate.key}` }]) {
		const answer = await fixture.get(`/x402/balance/${wallet.address}`, { "X-Sign-In-With-X": header, ...more });
		expect(answer.status).toBe(401);
		expect(await answer.json()).toMatchObject({ error: "Invalid Sign-in-with-x signature", code: "X402_INVALID_SIGN_IN" });
	}
});

test("before the path is looked at", async () => {
	expect((await fixture.get("/x402/balance/nobody")).status).toBe(401);
});
