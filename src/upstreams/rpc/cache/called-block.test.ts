import { expect, test } from "bun:test";
import { methodOf } from "../../../../test/support/rpc-calls.ts";
import { calledBlock } from "./called-block.ts";
import { foundBlock } from "./found-block.ts";

function block(name: string, params: unknown): number | null {
	return calledBlock(methodOf(name), Buffer.from(typeof params === "string" ? params : JSON.stringify(params)));
}

const HASH = `0x${"ab".repeat(32)}`;

test("a block that is named by number is known, in each form that the protocols have", () => {
	expect(block("eth_getBalance", ["0xaa", "0x10"])).toBe(16);
	expect(block("eth_getBalance", '[ "0xaa" , "\\u0030xA" ]')).toBe(10);
	expect(block("eth_getBalance", ["0xaa", "earliest"])).toBe(0);
	expect(block("eth_getBalance", ["0xaa", { blockNumber: "0x10" }])).toBe(16);
	expect(block("eth_getBlockByNumber", ["0x0", true])).toBe(0);
	expect(block("eth_call", [{ to: "0xaa" }, "0x5", { "0xaa": { balance: "0x1" } }])).toBe(5);
	expect(block("eth_getStorageAt", ["0xaa", "0x0", "0x7"])).toBe(7);
	expect(block("trace_call", [{}, ["trace"], "0x8"])).toBe(8);
	expect(block("eth_getRootHash", [100, 200])).toBe(200);
	expect(block("starknet_call", [{}, { block_number: 12 }])).toBe(12);
	expect(block("starknet_call", { request: {}, block_id: { block_number: 12 } })).toBe(12);
});

test("the later end of a range counts, where both are numbers", () => {
	expect(block("eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x9", address: "0xaa" }])).toBe(9);
	expect(block("eth_getLogs", [{ fromBlock: "0x9", toBlock: "0x1" }])).toBe(9);
	expect(block("trace_filter", [{ fromBlock: "0x2", toBlock: "0x3" }])).toBe(3);
	const filter = { from_block: { block_number: 3 }, to_block: { block_number: 4 }, chunk_size: 10 };
	expect(block("starknet_getEvents", [filter])).toBe(4);
	expect(block("starknet_getEvents", { filter })).toBe(4);
});

test("tags, hashes, gaps and what readers could take otherwise name no number", () => {
	for (const tag of [
		"latest",
		"safe",
		"finalized",
		"pending",
		"",
		HASH,
		"0x",
		"10",
		"0xfffffffffffffff",
		null,
		true,
		-1,
		1.5,
		1e20,
		[],
		{},
	])
		expect([tag, block("eth_getBalance", ["0xaa", tag])]).toEqual([tag, null]);
	expect(block("eth_getBalance", ["0xaa"])).toBeNull();
	expect(block("eth_getBalance", [])).toBeNull();
	for (const named of [
		{ blockHash: HASH },
		{ blockNumber: "0x1", blockHash: HASH },
		{ blockNumber: "0x1", requireCanonical: true },
		{ blocknumber: "0x1" },
		{ blockNumber: "latest" },
	])
		expect(block("eth_getBalance", ["0xaa", named])).toBeNull();
	for (const filter of [
		{ fromBlock: "0x1" },
		{ toBlock: "0x1" },
		{ fromBlock: "0x1", toBlock: "latest" },
		{ fromBlock: "earliest", toBlock: "pending" },
		{ blockHash: HASH },
		{ fromBlock: "0x1", toBlock: "0x2", blockHash: HASH },
		{ fromBlock: "0x1", toBlock: "0x2", BlockHash: null },
		{ fromBlock: "0x1", toBlock: "0x2", ToBlock: "latest" },
	])
		expect(block("eth_getLogs", [filter])).toBeNull();
	expect(block("eth_getLogs", '[{"fromBlock":"0x1","toBlock":"0x2","toBlock":"latest"}]')).toBeNull();
	expect(block("eth_getLogs", ["0x1"])).toBeNull();
	expect(block("starknet_call", { block_id: { block_number: 1 }, Block_id: "latest" })).toBeNull();
	expect(block("starknet_call", [{}, "pre_confirmed"])).toBeNull();
	expect(block("eth_blockNumber", [])).toBeNull();
});

test("the block of what was found is read out of the result", () => {
	const found = (value: unknown, member = "blockNumber") => foundBlock(Buffer.from(JSON.stringify(value)), member);
	expect(found({ hash: HASH, blockNumber: "0x10", logs: [{ blockNumber: "0x11" }] })).toBe(16);
	expect(found({ number: "0x0" }, "number")).toBe(0);
	expect(found([{ action: {}, blockNumber: 7 }, { blockNumber: 8 }])).toBe(7);
	expect(found({ block_number: 9 }, "block_number")).toBe(9);
	for (const value of [
		{},
		[],
		null,
		"0x10",
		16,
		{ blockNumber: null },
		{ blockNumber: "latest" },
		{ logs: [{ blockNumber: "0x1" }] },
	])
		expect(found(value)).toBeNull();
	expect(foundBlock(Buffer.from(`{"a":${"[".repeat(900)}${"]".repeat(900)},"blockNumber":1}`), "blockNumber")).toBeNull();
});
