/** Paid routes without a key: what they offer, and the one request that a payment is good for. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { disableAccount, showWallet } from "../../src/store/admin.ts";
import { decoded, type PayingGateway, startPayingGateway } from "../support/paying-gateway.ts";
import { BASE, headerOf } from "../support/usdc-chain.ts";
import { RPC_CALL_NANO } from "../support/wallet-gateway.ts";
import { testWallet } from "../support/wallets.ts";

let fixture: PayingGateway;
beforeAll(async () => {
	fixture = await startPayingGateway();
});
afterAll(() => fixture.stop());

const RPC_PATH = "/api/v1/crypto/rpc/ethereum-mainnet";
const accepts = () => [
	{
		scheme: "exact",
		network: BASE.id,
		amount: "10000000",
		asset: BASE.asset,
		payTo: fixture.payTo,
		maxTimeoutSeconds: 300,
		extra: { name: "USD Coin", version: "2" },
	},
];
const challengeOf = (path: string) => ({
	info: {
		domain: new URL(fixture.gate.url).host,
		uri: `${fixture.gate.url}${path}`,
		version: "1",
		nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
		issuedAt: expect.any(String),
		expirationTime: expect.any(String),
		statement: expect.any(String),
	},
	supportedChains: [
		{ chainId: "eip155:8453", type: "eip191" },
		{ chainId: expect.stringMatching(/^solana:/), type: "ed25519" },
	],
});
const inLedger = async () => (await fixture.gate.posts()).length;

test("without a credential: what can be paid, how to sign in, where to get a key; nothing else", async () => {
	const answer = await fixture.rpc({});
	expect(answer.status).toBe(402);
	const body = (await answer.json()) as Record<string, unknown>;
	const { authOptions, ...offered } = body;
	const full = {
		x402Version: 2,
		error: expect.any(String),
		resource: { url: `${fixture.gate.url}${RPC_PATH}`, description: "Call a chain by JSON-RPC", mimeType: "application/json" },
		accepts: accepts(),
		extensions: { "sign-in-with-x": { ...challengeOf(RPC_PATH), schema: expect.any(Object) } },
	};
	expect(offered).toEqual(full);
	expect(authOptions).toEqual({
		apiKey: {
			header: "Authorization: Bearer <key>",
			getKey: `${fixture.gate.url}/api/v1/api_keys/generate_web3_key`,
			docs: `${fixture.gate.url}/docs`,
		},
		x402Wallet: {
			header: "SIGN-IN-WITH-X",
			legacyHeader: "X-Sign-In-With-X",
			topUp: `${fixture.gate.url}/api/v1/x402/top-up`,
			docs: `${fixture.gate.url}/docs`,
		},
	});
	const header = answer.headers.get("payment-required");
	expect(decoded(header)).toEqual(offered);
	// Clients read it by atob, and proxies have small buffers for headers.
	expect(Buffer.from(header ?? "", "base64").every((byte) => byte < 128)).toBe(true);
	expect(header?.length).toBeLessThan(4_096);
	const { error } = (await (await fixture.chat({})).json()) as { error: unknown };
	expect(error).toBeString();
});

test("no offer for a wrong credential, nor on what is free", async () => {
	expect((await fixture.rpc({ authorization: "Bearer nobody" })).status).toBe(401);
	expect((await fixture.rpc({ "X-Sign-In-With-X": "nonsense" })).status).toBe(401);
	for (const path of ["/models", "/characters", "/billing/balance"]) {
		const answer = await fixture.get(path);
		expect([answer.status, answer.headers.get("payment-required")]).toEqual([401, null]);
	}
});

test("?x402Version=1 is answered in the form of version 1", async () => {
	const answer = await fixture.rpc({}, "?x402Version=1");
	expect([answer.status, await answer.json()]).toMatchObject([
		402,
		{ x402Version: 1, accepts: [{ network: "base", maxAmountRequired: "10000000", resource: `${fixture.gate.url}${RPC_PATH}` }] },
	]);
});

test("a wallet below the floor is told what it has and how to top up, on routes of OpenAI too", async () => {
	const wallet = testWallet();
	await fixture.fund(wallet, "0.02");
	for (const [answer, path, description] of [
		[await fixture.rpc(await wallet.signIn(fixture.gate.url)), RPC_PATH, "Call a chain by JSON-RPC"],
		[await fixture.chat(await wallet.signIn(fixture.gate.url)), "/api/v1/chat/completions", "Chat completion"],
	] as const) {
		expect(answer.status).toBe(402);
		expect(answer.headers.get("x-balance-remaining")).toBe("0.020000");
		expect(await answer.json()).toEqual({
			error: "Payment required",
			code: "PAYMENT_REQUIRED",
			reason: "insufficient_balance",
			message: expect.stringContaining("0.02"),
			currentBalanceUsd: 0.02,
			minimumBalanceUsd: 0.1,
			description,
			suggestedTopUpUsd: 10,
			minimumTopUpUsd: 5,
			supportedTokens: ["USDC"],
			supportedChains: ["base"],
			topUpInstructions: {
				step1: expect.stringContaining("POST /api/v1/x402/top-up"),
				step2: expect.any(String),
				step3: expect.stringContaining("PAYMENT-SIGNATURE"),
				receiverWallet: fixture.payTo,
				tokenAddress: BASE.asset,
				tokenDecimals: 6,
				network: BASE.id,
				minimumAmountUsd: 5,
			},
			siwxChallenge: challengeOf(path),
		});
		const required = decoded<Record<string, unknown>>(answer.headers.get("payment-required"));
		expect(required).toMatchObject({ x402Version: 2, accepts: accepts(), resource: { url: `${fixture.gate.url}${path}` } });
	}
});

test("a payment is a top-up of its wallet, and serves the request that brought it", async () => {
	const payer = await fixture.payer();
	const answer = await fixture.rpc({ "X-PAYMENT": await fixture.payment(payer, { usd: 10 }) });
	expect(answer.status).toBe(200);
	expect(await answer.json()).toMatchObject({ jsonrpc: "2.0" });
	expect(answer.headers.get("x-balance-remaining")).toBe("9.999987");
	const paid = { success: true, payer: payer.address.toLowerCase(), network: BASE.id };
	expect(decoded(answer.headers.get("payment-response"))).toMatchObject(paid);
	expect(answer.headers.get("x-payment-response")).toBe(answer.headers.get("payment-response"));
	const history = await fixture.get(`/x402/transactions/${payer.address}`, await payer.signIn(fixture.gate.url));
	const { transactions } = ((await history.json()) as { data: { transactions: { type: string; amount: number }[] } }).data;
	expect(transactions.map(({ type, amount }) => [type, amount])).toEqual([
		["CHARGE", -RPC_CALL_NANO / 1e9],
		["TOP_UP", 10],
	]);
});

test("the same header again never spends: it is no credential once the chain shows it", async () => {
	const payer = await fixture.payer();
	const header = await fixture.payment(payer);
	expect((await fixture.rpc({ "PAYMENT-SIGNATURE": header })).status).toBe(200);
	const before = await inLedger();
	for (const call of [fixture.rpc, fixture.chat]) {
		const again = await call({ "PAYMENT-SIGNATURE": header });
		expect(again.status).toBe(401);
		expect(JSON.stringify(await again.json())).toContain("sign in with SIWX");
		expect(decoded(again.headers.get("payment-response"))).toMatchObject({ success: true });
		expect(again.headers.get("payment-required")).toBeNull();
	}
	expect((await fixture.rpc({ "PAYMENT-SIGNATURE": header, ...(await payer.signIn(fixture.gate.url)) })).status).toBe(200);
	expect(await inLedger()).toBe(before + 1);
});

test("a header that was topped up with elsewhere serves no request", async () => {
	const header = await fixture.payment(await fixture.payer());
	expect((await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": header })).status).toBe(200);
	expect((await fixture.rpc({ "PAYMENT-SIGNATURE": header })).status).toBe(401);
});

test("ten at once with one header: one is served, the others are told to sign in; one credit", async () => {
	const payer = await fixture.payer();
	const header = await fixture.payment(payer);
	const before = await inLedger();
	const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.rpc({ "PAYMENT-SIGNATURE": header })));
	expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(401)]);
	expect(await inLedger()).toBe(before + 1);
	expect(await fixture.usdc.balance(payer.address)).toBe(995_000_000);
	const balance = await fixture.get(`/x402/balance/${payer.address}`, await payer.signIn(fixture.gate.url));
	expect(await balance.json()).toMatchObject({ data: { balanceUsd: 4.9999875 } });
});

test("a payment whose request is refused stays in the wallet's balance", async () => {
	const payer = await fixture.payer();
	const answer = await fixture.post("/crypto/rpc/ethereum-mainnet", {
		"PAYMENT-SIGNATURE": await fixture.payment(payer),
		"content-type": "text/plain",
	});
	expect(answer.status).toBe(415);
	expect(decoded(answer.headers.get("payment-response"))).toMatchObject({ success: true });
	const balance = await fixture.get(`/x402/balance/${payer.address}`, await payer.signIn(fixture.gate.url));
	expect(await balance.json()).toMatchObject({ data: { balanceUsd: 5 } });
});

test("a payment that cannot be taken is refused in the form of the route, and nothing is served", async () => {
	const before = await inLedger();
	const poor = await fixture.payer(1);
	const chatted = await fixture.chat({ "PAYMENT-SIGNATURE": await fixture.payment(poor) });
	expect([chatted.status, await chatted.json()]).toMatchObject([
		400,
		{
			error: { code: "PAYMENT_VERIFICATION_FAILED" },
			code: "PAYMENT_VERIFICATION_FAILED",
			details: { reason: expect.any(String) },
		},
	]);
	const called = await fixture.rpc({ "PAYMENT-SIGNATURE": "e30=" });
	expect([called.status, await called.json()]).toMatchObject([400, { error: expect.any(String), code: "X402_INVALID_PAYMENT" }]);
	expect(await inLedger()).toBe(before);
});

test("a wallet that the operator disabled cannot pay; what it sent to the chain by itself is credited all the same", async () => {
	const payer = await fixture.payer();
	const paid = await fixture.rpc({ "PAYMENT-SIGNATURE": await fixture.payment(payer) });
	expect(paid.status).toBe(200);
	await disableAccount(fixture.gate.admin, (await showWallet(fixture.gate.admin, payer)).accountId);
	const topUp = (headers: Record<string, string>) => fixture.post("/x402/top-up", headers);
	for (const pay of [topUp, fixture.rpc, fixture.chat]) {
		const refused = await pay({ "PAYMENT-SIGNATURE": await fixture.payment(payer) });
		expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("API_ACCESS_DISABLED")]);
	}
	expect(await fixture.usdc.balance(payer.address)).toBe(995_000_000);
	const signed = await fixture.usdc.sign(payer.account, fixture.payTo);
	await fixture.usdc.execute(signed);
	const credited = await topUp({ "PAYMENT-SIGNATURE": headerOf(signed) });
	expect(await credited.json()).toMatchObject({ data: { amountCredited: 5 } });
});

test("a key or a sign-in beside a payment decides; the payment is left alone", async () => {
	const payer = await fixture.payer();
	const header = await fixture.payment(payer);
	const keyed = await fixture.rpc({ "PAYMENT-SIGNATURE": header, authorization: `Bearer ${fixture.gate.key}` });
	expect([keyed.status, keyed.headers.get("payment-response")]).toEqual([200, null]);
	expect((await fixture.rpc({ "PAYMENT-SIGNATURE": header, ...(await payer.signIn(fixture.gate.url)) })).status).toBe(402);
	expect(await fixture.usdc.balance(payer.address)).toBe(1_000_000_000);
});

test("x402.payOnRoutes: false refuses payments on paid routes, and names the one that takes them", async () => {
	const strict = await startPayingGateway({ usdc: fixture.usdc, x402: { payOnRoutes: false } });
	try {
		const payer = await strict.payer();
		const header = await strict.payment(payer);
		const answer = await strict.rpc({ "PAYMENT-SIGNATURE": header });
		expect(answer.status).toBe(400);
		expect(await answer.json()).toMatchObject({
			error: expect.stringContaining("POST /api/v1/x402/top-up"),
			code: "X402_INVALID_PAYMENT",
		});
		expect((await strict.rpc({})).status).toBe(402);
		expect((await strict.post("/x402/top-up", { "PAYMENT-SIGNATURE": header })).status).toBe(200);
	} finally {
		await strict.stop();
	}
});

test("payments on routes count against the limit of top-ups", async () => {
	const limited = await startPayingGateway({ usdc: fixture.usdc, config: { limits: { topUpsPerMinute: 1 } } });
	try {
		expect((await limited.rpc({ "PAYMENT-SIGNATURE": await limited.payment(await limited.payer()) })).status).toBe(200);
		expect((await limited.rpc({ "PAYMENT-SIGNATURE": await limited.payment(await limited.payer()) })).status).toBe(429);
		expect((await limited.post("/x402/top-up")).status).toBe(429);
	} finally {
		await limited.stop();
	}
});

test("503 on a paid route while nobody knows whether the payment is settled; once it is, the wallet has it", async () => {
	const slow = await startPayingGateway({ config: { timeouts: { facilitatorMs: 1_500 } } });
	try {
		const payer = await slow.payer();
		const header = await slow.payment(payer);
		await slow.usdc.autoMine(false);
		const answer = await slow.chat({ "PAYMENT-SIGNATURE": header });
		expect(answer.status).toBe(503);
		expect(await answer.json()).toMatchObject({
			error: { code: "X402_SETTLEMENT_PENDING", message: expect.stringContaining("retry the same header") },
			code: "X402_SETTLEMENT_PENDING",
			details: { transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
		});
		expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
		await slow.usdc.mine();
		await slow.usdc.autoMine(true);
		expect((await slow.chat({ "PAYMENT-SIGNATURE": header })).status).toBe(401);
		expect((await slow.chat(await payer.signIn(slow.gate.url))).status).toBe(200);
		expect(await slow.received()).toBe(5_000_000_000);
	} finally {
		await slow.stop();
	}
});

test("an address whose payments failed too often waits, and is offered nothing meanwhile", async () => {
	const guarded = await startPayingGateway({
		usdc: fixture.usdc,
		config: { limits: { failedRequests: 2, topUpsPerMinute: 100 } },
	});
	try {
		const statuses: number[] = [];
		for (let turn = 0; turn < 4; turn++) statuses.push((await guarded.chat({ "PAYMENT-SIGNATURE": "e30=" })).status);
		expect(statuses).toEqual([400, 400, 400, 429]);
		expect((await guarded.chat({})).status).toBe(429);
		// A wallet that signs in is known by its signature, not by its address.
		expect((await guarded.chat(await testWallet().signIn(guarded.gate.url))).status).toBe(402);
	} finally {
		await guarded.stop();
	}
});

test("a browser may read what a payment needs, and what it brought", async () => {
	const origin = "https://app.example.test";
	const offered = await fixture.rpc({ origin });
	const answer = await fixture.rpc({ origin, "PAYMENT-SIGNATURE": await fixture.payment(await fixture.payer()) });
	expect([offered.status, answer.status]).toEqual([402, 200]);
	for (const { headers } of [offered, answer]) {
		expect(headers.get("access-control-allow-origin")).toBe("*");
		const exposed = new Set((headers.get("access-control-expose-headers") ?? "").split(", "));
		for (const name of [
			"PAYMENT-REQUIRED",
			"PAYMENT-RESPONSE",
			"X-PAYMENT-RESPONSE",
			"X-Balance-Remaining",
			"X-Service-RPC-Cost-USD",
		])
			expect(exposed).toContain(name);
	}
	const preflight = await fetch(`${fixture.gate.url}${RPC_PATH}`, {
		method: "OPTIONS",
		headers: { origin, "access-control-request-headers": "payment-signature, content-type" },
	});
	expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
		204,
		"payment-signature, content-type",
	]);
});
