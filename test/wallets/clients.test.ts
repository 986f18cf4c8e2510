/** Clients of x402 and of sign-ins as they are published, against the token's contract on a real chain. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { createSIWxClientHook, wrapFetchWithSIWx } from "@x402/extensions/sign-in-with-x";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import OpenAI from "openai";
import { SiweMessage } from "siwe";
import { createWalletClient, http } from "viem";
import { base } from "viem/chains";
import { type PayingGateway, startPayingGateway } from "../support/paying-gateway.ts";
import { BASE } from "../support/usdc-chain.ts";
import { CHAT_MODEL } from "../support/wallet-gateway.ts";
import type { TestWallet } from "../support/wallets.ts";

let fixture: PayingGateway;
beforeAll(async () => {
	fixture = await startPayingGateway();
});
afterAll(() => fixture.stop());

const url = (path: string) => `${fixture.gate.url}/api/v1${path}`;
const chat = (content = "1"): RequestInit => ({
	method: "POST",
	headers: { "content-type": "application/json" },
	body: JSON.stringify({ model: CHAT_MODEL, messages: [{ role: "user", content }], max_completion_tokens: 100 }),
});

/** The client of a wallet that may pay up to 20 USD at once; by itself it stops at 1. */
function payingClient({ account }: TestWallet, raise?: string): x402Client {
	return x402Client.fromConfig({
		schemes: [{ network: "eip155:*", client: new ExactEvmScheme(account) }],
		spendControls: { maxAmountPerPayment: "$20" },
		...(raise === undefined
			? {}
			: { paymentRequirementsSelector: (_version, [first]) => ({ ...(first as object), amount: raise }) as never }),
	});
}

async function balanceOf(wallet: TestWallet): Promise<number> {
	const answer = await fixture.get(`/x402/balance/${wallet.address}`, await wallet.signIn(fixture.gate.url));
	return ((await answer.json()) as { data: { balanceUsd: number } }).data.balanceUsd;
}

describe("@x402/fetch", () => {
	test("tops up the least, more by ?amountUsd=, and whatever its selector signs", async () => {
		const payer = await fixture.payer();
		const fetching = wrapFetchWithPayment(fetch, payingClient(payer));
		const answer = await fetching(url("/x402/top-up"), { method: "POST" });
		expect(await answer.json()).toMatchObject({ success: true, data: { amountCredited: 5, newBalance: 5 } });
		expect(decodePaymentResponseHeader(answer.headers.get("PAYMENT-RESPONSE") ?? "")).toMatchObject({
			success: true,
			network: BASE.id,
		});
		const more = await fetching(url("/x402/top-up?amountUsd=7.5"), { method: "POST" });
		expect(await more.json()).toMatchObject({ data: { amountCredited: 7.5, newBalance: 12.5 } });
		const raised = wrapFetchWithPayment(fetch, payingClient(payer, "12340000"));
		expect(await (await raised(url("/x402/top-up"), { method: "POST" })).json()).toMatchObject({
			data: { amountCredited: 12.34, newBalance: 24.84 },
		});
	});

	test("by itself it pays no more than 1 USD: nothing reaches us", async () => {
		const payer = await fixture.payer();
		const client = x402Client.fromConfig({ schemes: [{ network: "eip155:*", client: new ExactEvmScheme(payer.account) }] });
		const failed = await wrapFetchWithPayment(fetch, client)(url("/x402/top-up"), { method: "POST" }).catch(String);
		expect(failed).toContain("spend");
		expect(await balanceOf(payer)).toBe(0);
	});

	test("chats: it pays what the 402 offers, and is served", async () => {
		const payer = await fixture.payer();
		const answer = await wrapFetchWithPayment(fetch, payingClient(payer))(url("/chat/completions"), chat("5"));
		expect(answer.status).toBe(200);
		expect(await answer.json()).toMatchObject({ usage: { completion_tokens: 5 } });
		expect(decodePaymentResponseHeader(answer.headers.get("PAYMENT-RESPONSE") ?? "")).toMatchObject({ success: true });
		expect(await balanceOf(payer)).toBe(10 - 0.00006);
	});

	test("with its sign-in hook it pays once, and signs in from then on", async () => {
		const payer = await fixture.payer();
		const client = payingClient(payer);
		const signing = new x402HTTPClient(client).onPaymentRequired(createSIWxClientHook(payer.account));
		const fetching = wrapFetchWithPayment(fetch, signing);
		for (let turn = 0; turn < 3; turn++) expect((await fetching(url("/chat/completions"), chat("5"))).status).toBe(200);
		expect(await fixture.usdc.balance(payer.address)).toBe(990_000_000);
		expect(await balanceOf(payer)).toBeCloseTo(10 - 3 * 0.00006, 9);
	});
});

describe("sign-ins", () => {
	test("wrapFetchWithSIWx signs in with what the 402 asks for", async () => {
		const payer = await fixture.payer();
		await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": await fixture.payment(payer) });
		const answer = await wrapFetchWithSIWx(fetch, payer.account)(url("/chat/completions"), chat());
		expect(answer.status).toBe(200);
		expect(await balanceOf(payer)).toBe(5 - 0.00002);
	});

	test("the siwe package, and a viem wallet client", async () => {
		const payer = await fixture.payer();
		await fixture.post("/x402/top-up", { "PAYMENT-SIGNATURE": await fixture.payment(payer) });
		const message = new SiweMessage({
			domain: new URL(fixture.gate.url).host,
			address: payer.address,
			statement: "Sign in to the API",
			uri: fixture.gate.url,
			version: "1",
			chainId: 8453,
			nonce: randomBytes(8).toString("hex"),
			issuedAt: new Date().toISOString(),
			expirationTime: new Date(Date.now() + 600_000).toISOString(),
		}).prepareMessage();
		const client = createWalletClient({ account: payer.account, chain: base, transport: http(fixture.usdc.url) });
		const signature = await client.signMessage({ message });
		const header = btoa(
			JSON.stringify({ address: payer.address, message, signature, timestamp: Date.now(), chainId: await client.getChainId() }),
		);
		expect((await fixture.rpc({ "X-Sign-In-With-X": header })).status).toBe(200);
		expect((await fixture.rpc({ "SIGN-IN-WITH-X": header })).status).toBe(200);
		expect(await balanceOf(payer)).toBe(4.999975);
	});

	test("the openai package spends what was topped up, signed in by its headers", async () => {
		const payer = await fixture.payer();
		const fetching = wrapFetchWithPayment(fetch, payingClient(payer));
		await fetching(url("/x402/top-up"), { method: "POST" });
		const openai = new OpenAI({
			apiKey: "wallet",
			baseURL: `${fixture.gate.url}/api/v1`,
			defaultHeaders: await payer.signIn(fixture.gate.url),
			maxRetries: 0,
		});
		const answer = await openai.chat.completions.create({
			model: CHAT_MODEL,
			messages: [{ role: "user", content: "7" }],
			max_completion_tokens: 10,
		});
		expect(answer.usage?.completion_tokens).toBe(7);
		expect(await balanceOf(payer)).toBe(5 - 0.00008);
	});
});

const ROOT = join(import.meta.dir, "../..");
const made = spawnSync("node", ["scripts/client-packages.mjs", "x402-fetch"], { cwd: ROOT, encoding: "utf8" });
if (made.status !== 0) console.log(`x402-fetch could not be installed, its tests are skipped: ${made.stderr.trim()}`);

describe.skipIf(made.status !== 0)("x402-fetch, the client of version 1", () => {
	type Wrap = (fetching: typeof fetch, wallet: unknown, maxValue: bigint) => typeof fetch;
	const wrapped = async (payer: TestWallet): Promise<typeof fetch> => {
		const folder = join(made.stdout.trim(), "node_modules/x402-fetch/dist/esm/index.mjs");
		const { wrapFetchWithPayment: wrap } = (await import(folder)) as { wrapFetchWithPayment: Wrap };
		const wallet = createWalletClient({ account: payer.account, chain: base, transport: http(fixture.usdc.url) });
		return wrap(fetch, wallet, 20_000_000n);
	};

	test("tops up with ?x402Version=1", async () => {
		const payer = await fixture.payer();
		const answer = await (await wrapped(payer))(url("/x402/top-up?x402Version=1&amountUsd=6"), { method: "POST" });
		expect(await answer.json()).toMatchObject({ success: true, data: { amountCredited: 6, newBalance: 6 } });
		expect(answer.headers.get("X-PAYMENT-RESPONSE")).toBeString();
	});

	test("chats with ?x402Version=1", async () => {
		const payer = await fixture.payer();
		const answer = await (await wrapped(payer))(url("/chat/completions?x402Version=1"), chat("5"));
		expect([answer.status, await balanceOf(payer)]).toEqual([200, 10 - 0.00006]);
	});
});
