import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testWallet } from "../../../test/support/wallets.ts";

let fixture: WalletGateway;
let server: Bun.Server<undefined>;
beforeAll(async () => {
	server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("words") });
	fixture = await startWalletGateway({ config: { web: { robots: false, allowPrivateHosts: [`127.0.0.1:${server.port}`] } } });
});
afterAll(() => Promise.all([fixture.stop(), server.stop(true)]));

const send = (headers: Record<string, string>) =>
	fetch(`${fixture.gate.url}/api/v1/augment/scrape`, {
		method: "POST",
		body: JSON.stringify({ url: `http://127.0.0.1:${server.port}/a` }),
		headers: { ...headers, "content-type": "application/json" },
	});

test("a wallet that signs in pays for its page, and is told what is left", async () => {
	const wallet = testWallet();
	const account = await fixture.fund(wallet, "0.125");
	const answer = await send(await wallet.signIn(fixture.gate.url));
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-balance-remaining")).toBe("0.115000");
	expect(await fixture.gate.balance(account)).toBe(115_000_000);
});

test("a wallet without enough is told how to top up", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "0.009");
	const answer = await send(await wallet.signIn(fixture.gate.url));
	expect(answer.status).toBe(402);
	expect(await answer.json()).toMatchObject({ code: "PAYMENT_REQUIRED" });
});
