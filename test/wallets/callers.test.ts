/** Wallets on the routes that others call, too: what they may call, what they pay with, what they get where they cannot. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { CHAT_MODEL, RPC_CALL_NANO, startWalletGateway, type WalletGateway } from "../support/wallet-gateway.ts";
import { testSolanaWallet, testWallet } from "../support/wallets.ts";

let fixture: WalletGateway;
beforeAll(async () => {
	fixture = await startWalletGateway({ config: { limits: { failedRequests: 0 } } });
});
afterAll(() => fixture.stop());

test("a wallet calls chains and chats on its own balance, and is told what is left", async () => {
	const wallet = testWallet();
	const accountId = await fixture.fund(wallet, "1");
	const signedIn = await wallet.signIn(fixture.gate.url);
	const called = await fixture.rpc(signedIn);
	expect(called.status).toBe(200);
	expect(called.headers.get("x-balance-remaining")).toBe("0.999987");
	expect(called.headers.get("x-service-balance-usd")).toBeNull();
	const chatted = await fixture.chat(signedIn, 100);
	expect(chatted.status).toBe(200);
	expect(chatted.headers.get("x-balance-remaining")).toBe("0.998977");
	expect(await fixture.gate.balance(accountId)).toBe(1_000_000_000 - RPC_CALL_NANO - 1_010_000);
});

test("a wallet pays the same for responses and messages, and a wallet without money is told what to do", async () => {
	const wallet = testWallet();
	const accountId = await fixture.fund(wallet, "1");
	const asked = {
		"/responses": { model: CHAT_MODEL, input: "100", max_output_tokens: 100 },
		"/messages": { model: CHAT_MODEL, messages: [{ role: "user", content: "100" }], max_tokens: 100 },
	};
	const ask = (path: string, body: object, headers: Record<string, string>) =>
		fetch(`${fixture.gate.url}/api/v1${path}`, {
			method: "POST",
			headers: { ...headers, "content-type": "application/json" },
			body: JSON.stringify(body),
		});
	const signedIn = await wallet.signIn(fixture.gate.url);
	const poor = await testWallet().signIn(fixture.gate.url);
	for (const [path, body] of Object.entries(asked)) {
		const before = await fixture.gate.balance(accountId);
		const answer = await ask(path, body, signedIn);
		expect(answer.status, path).toBe(200);
		expect(before - (await fixture.gate.balance(accountId)), path).toBe(1_010_000);
		expect(answer.headers.get("x-balance-remaining"), path).toBe(((before - 1_010_000) / 1e9).toFixed(6));
		expect((await ask(path, body, poor)).status, path).toBe(402);
		expect((await ask(path, body, {})).status, path).toBe(401);
	}
	const count = { model: CHAT_MODEL, messages: asked["/messages"].messages };
	expect((await ask("/messages/count_tokens", count, poor)).status).toBe(200);
});

test("a wallet of Solana calls as well", async () => {
	const wallet = testSolanaWallet();
	await fixture.fund(wallet, "1");
	expect((await fixture.rpc(wallet.signIn(fixture.gate.url))).status).toBe(200);
});

test("lists are free for a wallet that has nothing", async () => {
	const signedIn = await testWallet().signIn(fixture.gate.url);
	for (const path of ["/models", "/models/traits", "/models/compatibility_mapping", `/models/${CHAT_MODEL}`, "/characters"])
		expect((await fixture.get(path, signedIn)).status).toBe(200);
});

test("a wallet may not do what needs a key", async () => {
	const signedIn = await testWallet().signIn(fixture.gate.url);
	for (const path of ["/api_keys", "/billing/balance", "/billing/usage", "/admin/accounts"])
		expect((await fixture.get(path, signedIn)).status).toBe(401);
});

test("the sign-in decides where a key comes with it, on routes that take wallets; the key on the others", async () => {
	const wallet = testWallet();
	const accountId = await fixture.fund(wallet, "1");
	const both = { ...(await wallet.signIn(fixture.gate.url)), authorization: `Bearer ${fixture.gate.key}` };
	const operator = await fixture.gate.balance();
	expect((await fixture.rpc(both)).headers.get("x-balance-remaining")).toBe("0.999987");
	expect(await fixture.gate.balance()).toBe(operator);
	expect(await fixture.gate.balance(accountId)).toBe(1_000_000_000 - RPC_CALL_NANO);
	const answer = await fixture.get("/billing/balance", both);
	expect(await answer.json()).toMatchObject({ balances: { usd: operator / 1e9 } });
	const wrong = { ...(await wallet.signIn("http://elsewhere.test")), authorization: `Bearer ${fixture.gate.key}` };
	expect((await fixture.rpc(wrong)).status).toBe(401);
	expect((await fixture.get("/billing/balance", wrong)).status).toBe(200);
});

test("without a receiver a request without a credential gets 401, a payment header or not", async () => {
	for (const headers of [{}, { "PAYMENT-SIGNATURE": "e30=" }]) {
		const called = await fixture.rpc(headers);
		expect([called.status, await called.json()]).toMatchObject([401, { code: "AUTHENTICATION_FAILED" }]);
		expect(called.headers.get("payment-required")).toBeNull();
	}
	expect((await fixture.chat({})).status).toBe(401);
});

test("a wallet without money gets 402, and leaves nothing behind", async () => {
	const wallet = testWallet();
	const signedIn = await wallet.signIn(fixture.gate.url);
	for (const headers of [signedIn, { ...signedIn, "Idempotency-Key": "first" }]) {
		const called = await fixture.rpc(headers);
		expect(called.status).toBe(402);
		expect(await called.json()).toMatchObject({ code: "PAYMENT_REQUIRED" });
		expect(called.headers.get("x-balance-remaining")).toBe("0.000000");
	}
	const chatted = await fixture.chat(signedIn);
	expect([chatted.status, await chatted.json()]).toMatchObject([402, { code: "PAYMENT_REQUIRED" }]);
});

test("below 10 cents a wallet is not served, at 10 cents it is", async () => {
	const poor = testWallet();
	await fixture.fund(poor, "0.099999999");
	expect((await fixture.rpc(await poor.signIn(fixture.gate.url))).status).toBe(402);
	const rich = testWallet();
	await fixture.fund(rich, "0.1");
	const signedIn = await rich.signIn(fixture.gate.url);
	expect((await fixture.rpc(signedIn)).status).toBe(200);
	expect((await fixture.rpc(signedIn)).status).toBe(402);
});

test("a wallet that is linked to a staking account spends its diem first, never its other money", async () => {
	const wallet = testWallet();
	const own = await fixture.fund(wallet, "0.3");
	const staker = await fixture.gate.newKey({ creditUsd: "50", changes: { wallet: wallet.address } });
	await fixture.stakeToday(staker.accountId, 0.45);
	const signedIn = await wallet.signIn(fixture.gate.url);
	// 10 tokens of input and 40,000 of output cost 0.40001 USD: more than the wallet has.
	const dear = await fixture.chat(signedIn, 40_000);
	expect(dear.status).toBe(200);
	expect(dear.headers.get("x-balance-remaining")).toBe("0.300000");
	expect(await fixture.gate.balance(own)).toBe(300_000_000);
	expect(await fixture.gate.balance(staker.accountId)).toBe(50_000_000_000);
	const left = await fixture.get(`/x402/balance/${wallet.address}`, signedIn);
	expect(await left.json()).toMatchObject({ data: { balanceUsd: 0.3, diemBalanceUsd: 0.04999 } });
	// What the diem does not cover the wallet pays.
	const next = await fixture.chat(signedIn, 20_000);
	expect(next.status).toBe(200);
	expect(await fixture.gate.balance(own)).toBe(300_000_000 - 200_010_000);
	expect(await fixture.gate.balance(staker.accountId)).toBe(50_000_000_000);
	// The account's key never sees the wallet's money.
	const seen = await fixture.get("/billing/balance", { authorization: `Bearer ${staker.secret}` });
	expect(await seen.json()).toMatchObject({ balances: { usd: 50 } });
});

test("the openai package calls with a sign-in among its headers", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "1");
	const defaultHeaders = await wallet.signIn(fixture.gate.url);
	const openai = new OpenAI({ apiKey: "wallet", baseURL: `${fixture.gate.url}/api/v1`, defaultHeaders, maxRetries: 0 });
	const messages = [{ role: "user", content: "5" }] as const;
	const whole = await openai.chat.completions.create({ model: CHAT_MODEL, messages: [...messages], max_completion_tokens: 5 });
	expect(whole.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
	const stream = await openai.chat.completions.create({ model: CHAT_MODEL, messages: [...messages], stream: true });
	let chunks = 0;
	for await (const chunk of stream) chunks += chunk.choices.length;
	expect(chunks).toBeGreaterThan(0);
	expect((await openai.models.list()).data.length).toBeGreaterThan(0);
	const stranger = new OpenAI({ apiKey: "wallet", baseURL: `${fixture.gate.url}/api/v1`, maxRetries: 0 });
	const refused = await stranger.models.list().then(
		() => null,
		(error: unknown) => error,
	);
	expect(refused).toMatchObject({ status: 401 });
});
