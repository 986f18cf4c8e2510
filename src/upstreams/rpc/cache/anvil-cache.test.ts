import { afterAll, beforeAll, expect, test } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { type Anvil, startAnvil } from "../../../../test/support/anvil.ts";
import { callOf, fastClock, itemOf, rpcUpstreams, textOf } from "../../../../test/support/rpc-calls.ts";
import { until } from "../../../../test/support/until.ts";
import type { RpcItem } from "../port.ts";
import type { RunningRpcUpstreams } from "../upstreams.ts";
import { CachedUpstreams } from "./cached-upstreams.ts";

/** The first account of every anvil: public, and worth nothing. */
const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

let node: Anvil;
let upstreams: RunningRpcUpstreams;
let cached: CachedUpstreams;
beforeAll(async () => {
	node = await startAnvil({ chainId: 1, minedByHand: true });
	upstreams = await rpcUpstreams([node.url], { clock: fastClock(10), timeouts: { rpcMs: 600_000, rpcSlowMs: 600_000 } });
	cached = new CachedUpstreams(upstreams, upstreams.heads, { maxBytes: 1_000_000 });
});
afterAll(async () => {
	cached.close();
	upstreams.close();
	await node.kill();
});

const hex = (number: number) => `0x${number.toString(16)}`;
const head = async () => Number(await node.rpc<string>("eth_blockNumber"));
const finalBlock = () => upstreams.heads.finality("ethereum-mainnet")?.block ?? -1;

/** The result through the cache, which must be the node's own of now, and whether it came from memory. */
async function read(item: RpcItem): Promise<{ readonly value: unknown; readonly fromMemory: boolean }> {
	const before = cached.stats().hits;
	const value = JSON.parse(textOf((await cached.single(callOf(item))).outcome));
	expect(value).toEqual(await node.rpc(item.method.name, JSON.parse(Buffer.from(item.params).toString())));
	return { value, fromMemory: cached.stats().hits > before };
}

async function finalised(block: number): Promise<void> {
	await cached.single(callOf(itemOf("eth_gasPrice")));
	await until(() => finalBlock() >= block);
}

test("over a reorg of a real node nothing stale comes from memory, and what has become final does", async () => {
	await node.rpc("anvil_mine", [hex(200)]);
	const final = Number((await node.rpc<{ number: string }>("eth_getBlockByNumber", ["finalized", false])).number);
	await finalised(final);

	const old = itemOf("eth_getBlockByNumber", [hex(final), false]);
	expect([(await read(old)).fromMemory, (await read(old)).fromMemory]).toEqual([false, true]);

	const raw = await account.signTransaction({
		chainId: 1,
		nonce: 0,
		to: account.address,
		value: 1n,
		gas: 21_000n,
		gasPrice: 10_000_000_000n,
	});
	const hash = await node.rpc<string>("eth_sendRawTransaction", [raw]);
	await node.rpc("anvil_mine", ["0x3"]);
	const top = await head();
	const near = [
		itemOf("eth_getTransactionReceipt", [hash]),
		itemOf("eth_getTransactionByHash", [hash]),
		itemOf("eth_getBlockByNumber", [hex(top), false]),
		itemOf("eth_getBalance", [account.address, hex(top)]),
		itemOf("eth_getBlockByNumber", ["latest", false]),
		itemOf("eth_getLogs", [{ fromBlock: hex(top - 2), toBlock: hex(top) }]),
	];
	for (const item of [...near, ...near]) expect((await read(item)).fromMemory).toBe(false);
	const before = (await read(itemOf("eth_getBlockByNumber", [hex(top), false]))).value;
	await node.rpc("anvil_reorg", [4, []]);
	for (const item of near) expect((await read(item)).fromMemory).toBe(false);
	expect((await read(itemOf("eth_getBlockByNumber", [hex(top), false]))).value).not.toEqual(before);
	expect((await read(old)).fromMemory).toBe(true);

	await node.rpc("anvil_mine", [hex(200)]);
	await finalised(top);
	const settled = near.filter(
		({ method }) => method.name !== "eth_getTransactionReceipt" && method.name !== "eth_getTransactionByHash",
	);
	for (const item of settled) await read(item);
	const memory = [];
	for (const item of settled) memory.push((await read(item)).fromMemory);
	expect(memory).toEqual([true, true, false, true]);
});

test("a node that is set back below what was final, and grows past it again, is another chain: nothing of before is left", async () => {
	await node.rpc("anvil_mine", [hex(100)]);
	const final = Number((await node.rpc<{ number: string }>("eth_getBlockByNumber", ["finalized", false])).number);
	await finalised(final);
	const blocks = [final - 40, final - 5, final].map((block) => itemOf("eth_getBlockByNumber", [hex(block), false]));
	for (const item of blocks) await read(item);
	for (const item of blocks) expect((await read(item)).fromMemory).toBe(true);

	// Deeper than what is final, and back to the same numbers before anybody may have looked.
	const depth = (await head()) - final + 20;
	await node.rpc("anvil_rollback", [depth]);
	await node.rpc("anvil_mine", [hex(depth), "0x7"]);
	const changed = blocks.slice(1);
	await until(() => cached.stats().entries === 0);
	for (const item of changed) expect((await read(item)).fromMemory).toBe(false);
	await finalised(final);
	for (const item of blocks) await read(item);
	for (const item of blocks) expect((await read(item)).fromMemory).toBe(true);
});
