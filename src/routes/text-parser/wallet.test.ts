import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWalletGateway, type WalletGateway } from "../../../test/support/wallet-gateway.ts";
import { testWallet } from "../../../test/support/wallets.ts";
import { PRICE } from "./testing/parser.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway({ config: { documents: { processes: 1 } } });
});
afterAll(() => fixture.stop());

const send = (headers: Record<string, string>) => {
	const form = new FormData();
	form.set("file", new File(["# Title"], "a.md"));
	return fetch(`${fixture.gate.url}/api/v1/augment/text-parser`, { method: "POST", body: form, headers });
};

test("a wallet that signs in pays for its file, and is told what is left", async () => {
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
