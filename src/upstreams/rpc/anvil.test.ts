import { afterAll, beforeAll, expect, test } from "bun:test";
import { keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type Anvil, startAnvil } from "../../../test/support/anvil.ts";
import { callOf, itemOf, networkOf, rpcUpstreams, textOf } from "../../../test/support/rpc-calls.ts";
import { until } from "../../../test/support/until.ts";
import type { RunningRpcUpstreams } from "./upstreams.ts";

/** The first account of every anvil: public, and worth nothing. */
const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

let node: Anvil;
let upstreams: RunningRpcUpstreams;
beforeAll(async () => {
	node = await startAnvil({ chainId: 1 });
	upstreams = await rpcUpstreams([node.url]);
});
afterAll(async () => {
	upstreams.close();
	await node.kill();
});

const resultOf = async (method: string, params: unknown[]) =>
	JSON.parse(textOf((await upstreams.single(callOf(itemOf(method, params)))).outcome));

test("a transaction is sent to a real node, found by its hash, and refused the second time by the node itself", async () => {
	expect(upstreams.online()).toEqual(["ethereum-mainnet"]);
	const raw = await account.signTransaction({
		chainId: 1,
		nonce: 0,
		to: account.address,
		value: 1n,
		gas: 21_000n,
		maxFeePerGas: 10_000_000_000n,
		maxPriorityFeePerGas: 1n,
	});
	const hash = keccak256(raw);
	const look = () => upstreams.lookUp(networkOf("ethereum-mainnet"), hash, "r", new AbortController().signal);
	expect(await look()).toBe("absent");
	const send = () => upstreams.single(callOf(itemOf("eth_sendRawTransaction", [raw], hash)));
	expect(textOf((await send()).outcome)).toBe(`"${hash}"`);
	expect(await look()).toBe("found");
	const again = await send();
	expect(again.outcome.kind).toBe("error");
	expect(textOf(again.outcome)).toMatch(/already|nonce/i);
	// The node accepts a transaction before it has mined it.
	let receipt: unknown = null;
	await until(async () => {
		receipt = await resultOf("eth_getTransactionReceipt", [hash]);
		return receipt !== null;
	}, "the transaction is mined");
	expect(receipt).toMatchObject({ transactionHash: hash, status: "0x1" });
});

test("a real node's errors and nulls pass as they are", async () => {
	expect(await resultOf("eth_getTransactionReceipt", [`0x${"00".repeat(32)}`])).toBeNull();
	const bad = await upstreams.single(callOf(itemOf("eth_getBalance", ["not an address", "latest"])));
	expect(bad.outcome).toMatchObject({ kind: "error", code: -32602 });
	const missing = await upstreams.single(callOf(itemOf("bor_getAuthor", [])));
	expect(missing.outcome).toMatchObject({ kind: "error", code: -32601 });
});

test("a batch of a hundred goes to a real node at once", async () => {
	const items = Array.from({ length: 100 }, (_, index) =>
		index % 2 === 0 ? itemOf("eth_chainId") : itemOf("eth_getBlockByNumber", ["0x0", false]),
	);
	const { outcome } = await upstreams.batch(callOf(items));
	const [chainId, block] = [textOf(outcome[0] ?? { kind: "missing" }), textOf(outcome[1] ?? { kind: "missing" })];
	expect(chainId).toBe('"0x1"');
	expect(JSON.parse(block)).toMatchObject({ number: "0x0" });
	for (const [index, one] of outcome.entries()) expect(textOf(one)).toBe(index % 2 === 0 ? chainId : block);
});

test("a node that is killed and comes back is found again by probes alone", async () => {
	await node.kill();
	for (let count = 0; count < 4; count++) await upstreams.single(callOf(itemOf("eth_chainId"))).catch(() => {});
	expect(upstreams.online()).toEqual([]);
	await node.start();
	for (let turn = 0; upstreams.online().length === 0 && turn < 2_000; turn++) await Bun.sleep(5);
	expect(upstreams.online()).toEqual(["ethereum-mainnet"]);
	expect(await resultOf("eth_blockNumber", [])).toBe("0x0");
});
