import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadRpcCatalog } from "../../catalog/rpc/index.ts";
import type { RpcNetwork } from "../../catalog/rpc/types.ts";
import { ApiError } from "../../errors/index.ts";
import { allowedMethods } from "./policy.ts";
import { readRequestBody } from "./request-body.ts";

const catalog = loadRpcCatalog(join(import.meta.dir, "../../../catalog/rpc"));

function network(slug: string): RpcNetwork {
	const found = catalog.networks.get(slug);
	if (!found) throw new Error(slug);
	return found;
}

const batchOf = (names: readonly string[]) =>
	readRequestBody(Buffer.from(JSON.stringify(names.map((method, id) => ({ id, method })))));
const singleOf = (method: string) => readRequestBody(Buffer.from(JSON.stringify({ method })));

function refusal(run: () => unknown): ApiError {
	try {
		run();
	} catch (error) {
		if (error instanceof ApiError) return error;
		throw error;
	}
	throw new Error("it was allowed");
}

test("the methods of allowed items come in their order", () => {
	const methods = allowedMethods(catalog, network("base-mainnet"), batchOf(["eth_call", "trace_block", "eth_call"]));
	expect(methods.map(({ name, multiplier }) => [name, multiplier])).toEqual([
		["eth_call", 1],
		["trace_block", 2],
		["eth_call", 1],
	]);
});

test("one refused item refuses all, and every refused name is told once, in order, with its reason", () => {
	const names = ["eth_newFilter", "eth_call", "eth_sign", "eth_newFilter", "starknet_call", "eth_subscribe", "foo_bar"];
	const error = refusal(() => allowedMethods(catalog, network("ethereum-mainnet"), batchOf(names)));
	expect(error).toMatchObject({
		code: "RPC_METHOD_UNSUPPORTED",
		status: 400,
		message: "Unsupported RPC methods: eth_newFilter, eth_sign, starknet_call, eth_subscribe, foo_bar",
	});
	expect(error.options.issues?.map(({ path, code }) => [path, code])).toEqual([
		[[0, "method"], "stateful_filter"],
		[[2, "method"], "key_or_miner"],
		[[4, "method"], "wrong_family"],
		[[5, "method"], "websocket_only"],
		[[6, "method"], "not_allowlisted"],
	]);
	expect(error.options.issues?.[0]?.message).toContain("ethers: new JsonRpcProvider(url, network, {polling: true})");
	expect(error.options.issues?.[2]?.message).toBe("starknet_call is a method of Starknet networks; ethereum-mainnet is not one");
	expect(error.options.param).toBe("[0].method");
});

test("a single request's fault has no index in its path", () => {
	const error = refusal(() => allowedMethods(catalog, network("ethereum-mainnet"), singleOf("eth_accounts")));
	expect(error.message).toBe("Unsupported RPC methods: eth_accounts");
	expect(error.options).toMatchObject({ param: "method", issues: [{ path: ["method"], code: "key_or_miner" }] });
});

test("a method of another machine is refused, one of another family of the same machine goes out", () => {
	for (const name of ["eth_call", "web3_sha3", "zks_L1ChainId"])
		expect(refusal(() => allowedMethods(catalog, network("starknet-mainnet"), singleOf(name))).options.issues?.[0]?.code).toBe(
			"wrong_family",
		);
	expect(allowedMethods(catalog, network("ethereum-mainnet"), singleOf("zks_L1ChainId"))).toHaveLength(1);
	expect(allowedMethods(catalog, network("starknet-sepolia"), singleOf("starknet_call"))).toHaveLength(1);
});
