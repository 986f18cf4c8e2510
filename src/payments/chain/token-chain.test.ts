import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { toEventSelector, toFunctionSelector } from "viem";
import { systemTimers } from "../../telemetry/clock.ts";
import { networkNamed } from "../networks.ts";
import type { Authorization } from "../payment.ts";
import { ChainUnavailable, JsonRpc } from "./json-rpc.ts";
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED, TokenChain, TRANSFER, WrongChain } from "./token-chain.ts";
import { domainSeparator } from "./typed-data.ts";
import { word } from "./words.ts";

const BASE = networkNamed("base");
const TOKEN = BASE.asset.toLowerCase();
const HASH = `0x${"ab".repeat(32)}`;
const signed: Authorization = {
	from: "0x52908400098527886e0f7030069857d2e4169ee7",
	to: "0x000000000000000000000000000000000000beef",
	value: "5000000",
	validAfter: "0",
	validBefore: "2000000000",
	nonce: `0x${"cd".repeat(32)}`,
};

/** The node's answers by method: a result, an error, or a response. */
let answers: Record<string, unknown>;
let asked: string[];
let node: ReturnType<typeof Bun.serve>;

beforeAll(() => {
	node = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const { method, id, params } = (await request.json()) as { method: string; id: number; params: [{ data?: string }] };
			asked.push(method);
			const selector = params[0]?.data?.slice(0, 10);
			const answer = answers[method === "eth_call" ? `${selector}` : method];
			if (answer instanceof Function) return (answer as () => Response)();
			return Response.json(
				answer === undefined
					? { jsonrpc: "2.0", id, error: { code: -32_601, message: "secret" } }
					: { jsonrpc: "2.0", id, result: answer },
			);
		},
	});
});
afterAll(() => node.stop(true));

const log = (topics: readonly string[], more: object = {}) => ({
	address: TOKEN,
	topics,
	data: "0x",
	transactionHash: HASH,
	...more,
});
const used = log([AUTHORIZATION_USED, `0x${word(signed.from)}`, signed.nonce]);
const transfer = (to = signed.to, value = signed.value, more: object = {}) =>
	log([TRANSFER, `0x${word(signed.from)}`, `0x${word(to)}`], { data: `0x${word(value)}`, ...more });

/** Makes the chain contain a transaction with these logs. */
function taken(...logs: readonly object[]): void {
	const numbered = logs.map((entry, index) => ({ ...entry, logIndex: `0x${index.toString(16)}` }));
	answers.eth_getLogs = numbered.slice(0, 1);
	answers.eth_getTransactionReceipt = { status: "0x1", blockNumber: "0x20", logs: numbered };
}

beforeEach(() => {
	asked = [];
	answers = {
		eth_chainId: "0x2105",
		"0x3644e515": domainSeparator(BASE),
		"0xe94a0102": `0x${word(1)}`,
		eth_getBlockByNumber: { number: "0x30", timestamp: "0x70000000" },
	};
});

const chain = (url = `http://127.0.0.1:${node.port}/secret`) =>
	new TokenChain(BASE, new JsonRpc({ url, timeoutMs: 5_000, timers: systemTimers }), "safe");
const askNow = () => chain().use(signed, null, 0x10);

test("the constants are those of the token's interface", () => {
	expect(AUTHORIZATION_USED).toBe(toEventSelector("AuthorizationUsed(address,bytes32)"));
	expect(AUTHORIZATION_CANCELED).toBe(toEventSelector("AuthorizationCanceled(address,bytes32)"));
	expect(TRANSFER).toBe(toEventSelector("Transfer(address,address,uint256)"));
	expect(toFunctionSelector("DOMAIN_SEPARATOR()")).toBe("0x3644e515");
	expect(toFunctionSelector("authorizationState(address,bytes32)")).toBe("0xe94a0102");
	expect(toFunctionSelector("isValidSignature(bytes32,bytes)")).toBe("0x1626ba7e");
	expect(domainSeparator(BASE)).toBe("0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f");
});

test("a transfer counts where it is the token's next log after the use, and nothing else does", async () => {
	taken(used, transfer());
	expect(await askNow()).toEqual({
		kind: "transferred",
		transfer: { transaction: HASH, block: 0x20, logIndex: 1 },
		head: 0x30,
	});
	taken(used, { ...transfer(), address: signed.to }, transfer());
	expect(await askNow()).toMatchObject({ kind: "transferred", transfer: { logIndex: 2 } });
	for (const logs of [
		[used],
		[used, transfer("0x52908400098527886e0f7030069857d2e4169ee7"), transfer()],
		[used, transfer(signed.to, "4999999")],
		[used, log([AUTHORIZATION_USED, `0x${word(signed.to)}`, signed.nonce]), transfer()],
		[log([AUTHORIZATION_CANCELED, `0x${word(signed.from)}`, signed.nonce]), transfer()],
	]) {
		taken(...logs);
		expect((await askNow()).kind).toBe("elsewhere");
	}
	// A log that only looks like the token's.
	taken({ ...used, address: signed.to }, transfer());
	expect((await askNow()).kind).toBe("unseen");
	answers.eth_getLogs = [];
	expect((await askNow()).kind).toBe("unseen");
	answers["0xe94a0102"] = `0x${word(0)}`;
	expect((await askNow()).kind).toBe("unused");
});

test("a transaction that failed proves nothing", async () => {
	taken(used, transfer());
	answers.eth_getTransactionReceipt = { ...(answers.eth_getTransactionReceipt as object), status: "0x0" };
	expect((await askNow()).kind).toBe("unseen");
});

test("another chain and another token are told apart from a node that is away, and asked again", async () => {
	const one = chain();
	answers.eth_chainId = "0x1";
	await expect(one.check()).rejects.toBeInstanceOf(WrongChain);
	answers.eth_chainId = "0x2105";
	answers["0x3644e515"] = `0x${word(7)}`;
	await expect(one.check()).rejects.toBeInstanceOf(WrongChain);
	answers["0x3644e515"] = "0x";
	await expect(one.check()).rejects.toBeInstanceOf(WrongChain);
	answers["0x3644e515"] = () => new Response("busy", { status: 503 });
	await expect(one.check()).rejects.toBeInstanceOf(ChainUnavailable);
	answers["0x3644e515"] = domainSeparator(BASE);
	await one.check();
	asked = [];
	await one.check();
	expect(asked).toEqual([]);
});

test("answers that are none are faults, and no fault tells the node's address", async () => {
	for (const answer of [null, 5, "0x", {}, [], ...["<html>", "null", "{}"].map((text) => () => new Response(text))]) {
		answers.eth_getBlockByNumber = answer;
		await expect(chain().head()).rejects.toThrow();
	}
	const fault = await chain("http://127.0.0.1:9/secret")
		.head()
		.catch((error: Error) => error.message);
	expect(fault).toBe("eth_getBlockByNumber: the chain's node does not answer");
	delete answers.eth_getBlockByNumber;
	expect(
		await chain()
			.head()
			.catch((error: Error) => error.message),
	).not.toContain("secret");
});
