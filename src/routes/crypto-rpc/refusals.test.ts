/** 400, 401, 402, 403, 405, 413, 415: none of them reaches an upstream or costs anything. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type RpcGateway, request, startRpcGateway } from "../../../test/support/rpc-gateway.ts";

interface Refusal {
	readonly error: string;
	readonly code: string;
	readonly issues?: readonly { readonly path: readonly (string | number)[]; readonly code: string }[];
}

let fixture: RpcGateway;
let reachedBefore: number;
beforeAll(async () => {
	fixture = await startRpcGateway();
});
afterAll(() => fixture.stop());
beforeEach(() => {
	reachedBefore = fixture.reached;
});
afterEach(async () => {
	expect(fixture.reached).toBe(reachedBefore);
	expect(await fixture.gate.posts()).toHaveLength(0);
});

async function refused(answer: Response, status: number): Promise<Refusal> {
	const body = (await answer.json()) as Refusal;
	expect({ status: answer.status, body }).toMatchObject({ status });
	expect(answer.headers.get("x-request-id")).toMatch(/^[0-9A-Za-z]{32}$/);
	expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
	return body;
}

describe("400", () => {
	test("an unknown network, before anybody is asked who they are", async () => {
		const answer = await fixture.rpc(request("eth_gasPrice"), { network: "bitcoin", key: "sk_inf_nobody" });
		expect(await refused(answer, 400)).toEqual({ error: "Unsupported RPC network", code: "RPC_NETWORK_UNSUPPORTED" });
	});

	test.each([
		["base", "base-mainnet"],
		["eth", "ethereum-mainnet"],
		["mainnet", "ethereum-mainnet"],
		["base-mainet", "base-mainnet"],
		["Base-Mainnet", "base-mainnet"],
		["base_mainnet", "base-mainnet"],
		["Base_Sepolia", "base-sepolia"],
		["eth-mainnet", "ethereum-mainnet"],
		["matic", "polygon-mainnet"],
		["op-mainnet", "optimism-mainnet"],
		["arbitrum-one", "arbitrum-mainnet"],
		["avalanche", "avalanche-mainnet"],
		["bnb-testnet", "bsc-testnet"],
		["polygon-main", "polygon-mainnet"],
		["8453", "base-mainnet"],
	])("a network %p, which is nearly %s", async (network, meant) => {
		const answer = await fixture.rpc(request("eth_gasPrice"), { network });
		const error = `Unsupported RPC network; did you mean ${meant}?`;
		expect(await refused(answer, 400)).toEqual({ error, code: "RPC_NETWORK_UNSUPPORTED" });
	});

	test.each([
		["an empty body", "", "The body is empty"],
		["no JSON", "{", "not valid JSON"],
		["trailing garbage", '{"id":1,"method":"eth_gasPrice"} x', "not valid JSON"],
		["no object", '"eth_gasPrice"', "JSON-RPC request"],
		["no method", '{"id":1}', "method"],
		["a method that is no string", '{"id":1,"method":7}', "method"],
		["params that are no array", '{"id":1,"method":"eth_call","params":{"to":1}}', "params"],
		["another version", '{"jsonrpc":"1.0","id":1,"method":"eth_gasPrice"}', "jsonrpc"],
		["an id that is an object", '{"id":{},"method":"eth_gasPrice"}', "id"],
		["an id that is a boolean", '{"id":true,"method":"eth_gasPrice"}', "id"],
		["a key twice", '{"id":1,"method":"eth_gasPrice","method":"eth_accounts"}', "method"],
		["a key twice in another spelling", '{"id":1,"method":"eth_gasPrice","m\\u0065thod":"eth_accounts"}', "method"],
	])("%s", async (_name, body, words) => {
		const refusal = await refused(await fixture.rpc(body), 400);
		expect(refusal.code).toBe("INVALID_REQUEST");
		expect(JSON.stringify(refusal)).toContain(words);
	});

	test("a batch without items, or with too many, or with an item without id", async () => {
		expect(await refused(await fixture.rpc("[]"), 400)).toMatchObject({ error: "Batch is empty", code: "RPC_BATCH_INVALID" });
		const many = Array.from({ length: 101 }, (_, id) => request("eth_gasPrice", [], id));
		expect(await refused(await fixture.rpc(many), 400)).toMatchObject({ error: "Batch exceeds 100 items" });
		const noId = await refused(await fixture.rpc([{ method: "eth_gasPrice" }]), 400);
		expect(noId.code).toBe("RPC_BATCH_INVALID");
		expect(noId.issues?.[0]?.path).toEqual([0, "id"]);
	});

	test("names every method that is not taken, once and in their order; the whole batch is refused", async () => {
		const items = ["eth_newFilter", "eth_gasPrice", "eth_sign", "eth_newFilter"].map((method, id) => request(method, [], id));
		const refusal = await refused(await fixture.rpc(items), 400);
		expect(refusal).toMatchObject({
			error: "Unsupported RPC methods: eth_newFilter, eth_sign",
			code: "RPC_METHOD_UNSUPPORTED",
		});
		expect(refusal.issues?.map((issue) => issue.code)).toEqual(["stateful_filter", "key_or_miner"]);
		expect(JSON.stringify(refusal)).toContain("{polling: true}");
	});

	test("a method of another machine", async () => {
		const refusal = await refused(await fixture.rpc(request("starknet_blockNumber")), 400);
		expect(refusal.issues?.[0]?.code).toBe("wrong_family");
	});

	test.each(["", " ", "a b", "ä", "x".repeat(256), "a.b"])("an Idempotency-Key like %j", async (key) => {
		if (key === "ä") return;
		const answer = await fixture.rpc(request("eth_gasPrice"), { headers: { "idempotency-key": key } });
		expect(await refused(answer, 400)).toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
	});
});

test("401 without a key, with a key that nobody knows", async () => {
	const answer = await fixture.rpc(request("eth_gasPrice"), { key: "sk_inf_nobody" });
	expect(await refused(answer, 401)).toMatchObject({ code: "AUTHENTICATION_FAILED" });
	expect(answer.headers.get("www-authenticate")).toBe("Bearer");
});

test("402 where the worst case is not covered", async () => {
	const poor = await fixture.gate.newKey({ creditUsd: "0.00001" });
	const answer = await fixture.rpc(request("eth_gasPrice"), { key: poor.secret });
	expect(await refused(answer, 402)).toMatchObject({ code: "INSUFFICIENT_BALANCE" });
});

test("403 for a key that is restricted to other networks or endpoints", async () => {
	const rules = { models: null, endpoints: null, networks: ["base-mainnet"], addresses: null };
	const elsewhere = await fixture.gate.newKey({ creditUsd: "1", key: { restrictions: rules } });
	const answer = await fixture.rpc(request("eth_gasPrice"), { key: elsewhere.secret });
	expect((await refused(answer, 403)).error).toContain("base-mainnet");
	const chatOnly = await fixture.gate.newKey({
		creditUsd: "1",
		key: { restrictions: { ...rules, networks: null, endpoints: ["chat"] } },
	});
	expect((await refused(await fixture.rpc(request("eth_gasPrice"), { key: chatOnly.secret }), 403)).error).toContain(
		"crypto-rpc",
	);
});

test("405 for another method, with those that are taken", async () => {
	const answer = await fixture.gate.call("GET", "/crypto/rpc/ethereum-mainnet");
	expect(answer.status).toBe(405);
	expect(answer.headers.get("allow")).toContain("POST");
});

test("413 past 5 MiB", async () => {
	const answer = await fixture.rpc(JSON.stringify(request("eth_call", ["x".repeat(5 * 1_048_576)])));
	expect(await refused(answer, 413)).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
});

test("415 for another content type", async () => {
	const answer = await fixture.rpc(request("eth_gasPrice"), { headers: { "content-type": "text/plain" } });
	expect(await refused(answer, 415)).toMatchObject({ code: "INVALID_CONTENT_TYPE" });
});

test("415 for a packing that is not read, with what is taken", async () => {
	for (const coding of ["compress", "gzip, br"]) {
		const answer = await fixture.rpc(request("eth_gasPrice"), { headers: { "content-encoding": coding } });
		const { error, code } = await refused(answer, 415);
		expect([error, code]).toEqual([expect.stringContaining("or an uncompressed body"), "INVALID_CONTENT_TYPE"]);
		expect(answer.headers.get("accept-encoding")).toBe("gzip, deflate, br, zstd");
	}
	for (const word of ["identity", "utf-8", ""]) {
		const answer = await fixture.rpc("[]", { headers: { "content-encoding": word } });
		expect(await refused(answer, 400)).toMatchObject({ error: "Batch is empty" });
	}
});

test("many refusals do not block the caller: there are two limits, and this is none", async () => {
	for (let index = 0; index < 25; index++) await refused(await fixture.rpc("{"), 400);
	const answer = await fixture.rpc(request("eth_sign"));
	expect(answer.status).toBe(400);
});
