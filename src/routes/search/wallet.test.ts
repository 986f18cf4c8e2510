import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ScriptedSearch, startScriptedSearch } from "../../../test/support/scripted-search.ts";
import { startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testWallet } from "../../../test/support/wallets.ts";
import { PRICE } from "./testing/search.ts";

let scripted: ScriptedSearch;
let fixture: WalletGateway;
beforeAll(async () => {
	scripted = startScriptedSearch();
	fixture = await startWalletGateway({ config: { web: { search: scripted.section(["searxng"]) } } });
});
afterAll(() => Promise.all([fixture.stop(), scripted.stop()]));

const send = (headers: Record<string, string>) =>
	fetch(`${fixture.gate.url}/api/v1/augment/search`, {
		method: "POST",
		body: '{"query":"tea"}',
		headers: { ...headers, "content-type": "application/json" },
	});

test("a wallet that signs in pays for its search, and is told what is left", async () => {
	const wallet = testWallet();
	const account = await fixture.fund(wallet, "0.125");
	const answer = await send(await wallet.signIn(fixture.gate.url));
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-balance-remaining")).toBe("0.115000");
	expect(await fixture.gate.balance(account)).toBe(125_000_000 - PRICE);
});

test("a wallet without enough is told how to top up", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "0.009");
	const answer = await send(await wallet.signIn(fixture.gate.url));
	expect(answer.status).toBe(402);
	expect(await answer.json()).toMatchObject({ code: "PAYMENT_REQUIRED" });
});
