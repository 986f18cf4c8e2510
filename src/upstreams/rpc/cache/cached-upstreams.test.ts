import { describe, expect, test } from "bun:test";
import { itemOf as item, networkOf as network, textOf } from "../../../../test/support/rpc-calls.ts";
import {
	BALANCE,
	call,
	failed,
	madeCache as made,
	result,
	ScriptedUpstreams,
	type SetHeads,
} from "../../../../test/support/scripted-rpc-upstreams.ts";
import type { RpcCall, RpcOutcome } from "../port.ts";

const HASH = `0x${"ab".repeat(32)}`;

/** How many of two such calls, one after the other, reach the upstreams. */
async function reached(one: () => RpcCall, answer: RpcOutcome, prepare: (heads: SetHeads) => void = () => {}): Promise<number> {
	const inner = new ScriptedUpstreams(() => answer);
	const { heads, cached } = made(inner);
	prepare(heads);
	const first = await cached.single(one());
	const second = await cached.single(one());
	expect(textOf(second.outcome)).toBe(textOf(first.outcome));
	return inner.calls.length;
}

describe("what is kept", () => {
	test("calls that name blocks at or below the final one", async () => {
		expect(await reached(() => call([BALANCE("0x64")]), result("0x1"))).toBe(1);
		expect(await reached(() => call([item("eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x64" }])]), result([]))).toBe(1);
		expect(await reached(() => call([item("eth_getBlockByNumber", ["earliest", false])]), result({ number: "0x0" }))).toBe(1);
		expect(await reached(() => call([item("trace_block", ["0x1"])]), result([]))).toBe(1);
	});

	test("nothing above it, nothing by tags or hashes, and nothing while it is not known", async () => {
		expect(await reached(() => call([BALANCE("0x65")]), result("0x1"))).toBe(2);
		for (const tag of ["latest", "safe", "finalized", "pending", HASH, { blockHash: HASH }, null])
			expect(await reached(() => call([BALANCE(tag)]), result("0x1"))).toBe(2);
		expect(
			await reached(
				() => call([BALANCE()]),
				result("0x1"),
				(heads) => heads.set(null),
			),
		).toBe(2);
		expect(await reached(() => call([item("eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x65" }])]), result([]))).toBe(2);
	});

	test("neither nulls nor errors", async () => {
		expect(await reached(() => call([BALANCE()]), result(null))).toBe(2);
		expect(await reached(() => call([BALANCE()]), failed(-32000))).toBe(2);
		expect(await reached(() => call([item("eth_chainId")]), failed(-32601))).toBe(2);
	});

	test("things found by hash once their block is final, where the result tells it", async () => {
		const receipt = () => call([item("eth_getTransactionReceipt", [HASH])]);
		expect(await reached(receipt, result({ blockNumber: "0x64" }))).toBe(1);
		expect(await reached(receipt, result({ blockNumber: "0x65" }))).toBe(2);
		expect(await reached(receipt, result({ blockNumber: null }))).toBe(2);
		expect(await reached(() => call([item("eth_getBlockByHash", [HASH, false])]), result({ number: "0x64" }))).toBe(1);
		expect(await reached(() => call([item("trace_transaction", [HASH])]), result([{ blockNumber: 100 }]))).toBe(1);
		expect(await reached(() => call([item("debug_traceTransaction", [HASH])]), result({ gas: 1 }))).toBe(2);
		expect(await reached(() => call([item("eth_getBlockTransactionCountByHash", [HASH])]), result("0x1"))).toBe(2);
	});

	test("constants, without any head", async () => {
		const none = (heads: SetHeads) => heads.set(null);
		expect(await reached(() => call([item("eth_chainId")]), result("0x1"), none)).toBe(1);
		expect(await reached(() => call([item("net_version")]), result("1"), none)).toBe(1);
		expect(await reached(() => call([item("web3_sha3", ["0x68"])]), result("0xab"), none)).toBe(1);
	});

	test("some constants for an hour", async () => {
		const inner = new ScriptedUpstreams(() => result("0.9.0"));
		const { cached, pass } = made(inner);
		const ask = () => cached.single(call([item("starknet_specVersion")], undefined, network("starknet-mainnet")));
		await ask();
		pass(3_599_999);
		await ask();
		expect(inner.calls).toHaveLength(1);
		pass(1);
		await ask();
		expect(inner.calls).toHaveLength(2);
	});

	test("nothing that changes with the head or by itself", async () => {
		for (const name of [
			"eth_blockNumber",
			"eth_gasPrice",
			"eth_syncing",
			"txpool_status",
			"zks_L1ChainId",
			"eth_getUserOperationByHash",
		])
			expect(await reached(() => call([item(name)]), result("0x1"))).toBe(2);
	});

	test("nothing of an upstream that may not have had the final block when it was asked", async () => {
		expect(
			await reached(
				() => call([item("eth_getLogs", [{ fromBlock: "0x1", toBlock: "0x9" }])]),
				result([]),
				(heads) => heads.set(100, "two"),
			),
		).toBe(2);
		const inner = new ScriptedUpstreams();
		const { heads, cached } = made(inner);
		heads.set(100, "two");
		const early = cached.single(call([BALANCE()]));
		heads.set(100, "one", "two");
		inner.calls[0]?.answer(result("0x1"));
		await early;
		expect(cached.stats().entries).toBe(0);
	});

	test("nothing that Starknet's nodes call provisional", async () => {
		const starknet = () =>
			call([item("starknet_getBlockWithTxs", [{ block_number: 5 }])], undefined, network("starknet-mainnet"));
		expect(await reached(starknet, result({ status: "ACCEPTED_ON_L2" }))).toBe(2);
		expect(await reached(starknet, result({ status: "ACCEPTED_ON_L1" }))).toBe(1);
	});

	test("nothing at all where there is no room, and concurrent calls are shared all the same", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner, 0);
		const both = [cached.single(call([BALANCE()])), cached.single(call([BALANCE()]))];
		inner.calls[0]?.answer(result("0x1"));
		await Promise.all(both);
		expect(inner.calls).toHaveLength(1);
		const again = cached.single(call([BALANCE()]));
		inner.calls[1]?.answer(result("0x1"));
		await again;
		expect(cached.stats()).toEqual({ hits: 0, misses: 0, shared: 1, entries: 0, bytes: 0 });
	});
});

describe("what a call is known by", () => {
	test("its network, method and parameters in any spelling", async () => {
		const inner = new ScriptedUpstreams(({ params }) => result(Buffer.from(params).toString()));
		const { cached } = made(inner);
		await cached.single(call([item("eth_call", '[{"to":"0xaa","data":"0x"},"0x1"]')]));
		await cached.single(call([item("eth_call", ' [ { "data":"0x", "\\u0074o":"0xaa" },"0x1" ]'.trim())]));
		expect(inner.calls).toHaveLength(1);
		await cached.single(call([item("eth_call", '[{"to":"0xab","data":"0x"},"0x1"]')]));
		await cached.single(call([item("eth_call", '[{"to":"0xaa","data":"0x"},"0x1",{}]')]));
		await cached.single(call([item("eth_getBalance", '[{"to":"0xaa","data":"0x"},"0x1"]')]));
		await cached.single(call([item("eth_call", '[{"to":"0xaa","data":"0x"},"0x1"]')], undefined, network("base-mainnet")));
		expect(inner.calls).toHaveLength(5);
	});

	test("the hash of its parameters where they are long; very long ones are not compared", async () => {
		const inner = new ScriptedUpstreams(() => result("0x1"));
		const { cached } = made(inner);
		const of = (data: string) => call([item("eth_call", [{ data }, "0x1"])]);
		for (const data of ["a".repeat(1_000), "a".repeat(1_000), `${"a".repeat(999)}b`]) await cached.single(of(data));
		expect(inner.calls).toHaveLength(2);
		for (let time = 0; time < 2; time++) await cached.single(of("a".repeat(70_000)));
		expect(inner.calls).toHaveLength(4);
	});
});

describe("the final block going back", () => {
	test("drops what lies above it, and what was asked before it did is not kept", async () => {
		const inner = new ScriptedUpstreams();
		const { heads, cached } = made(inner);
		const ask = async (block: string, value: string) => {
			const answer = cached.single(call([BALANCE(block)]));
			inner.calls.at(-1)?.answer(result(value));
			return textOf((await answer).outcome);
		};
		await ask("0x60", "old");
		await ask("0x50", "low");
		const slow = cached.single(call([BALANCE("0x61")]));
		const reply = inner.calls.at(-1);
		heads.set(90);
		heads.set(100);
		reply?.answer(result("stale"));
		await slow;
		expect(cached.stats().entries).toBe(1);
		expect(await ask("0x60", "new")).toBe('"new"');
		expect(await ask("0x61", "new")).toBe('"new"');
		expect(await ask("0x50", "never asked")).toBe('"low"');
	});

	test("is noticed over a time in which it was not known, while nothing of blocks is given out", async () => {
		const inner = new ScriptedUpstreams(() => result("0x1"));
		const { heads, cached } = made(inner);
		await cached.single(call([BALANCE("0x60")]));
		heads.set(null);
		await cached.single(call([BALANCE("0x60")]));
		expect(inner.calls).toHaveLength(2);
		heads.set(100);
		await cached.single(call([BALANCE("0x60")]));
		expect(inner.calls).toHaveLength(2);
		heads.set(null);
		heads.set(50);
		expect(cached.stats().entries).toBe(0);
	});

	test("is listened to only while there is something to keep", () => {
		const { heads, cached } = made(new ScriptedUpstreams());
		expect(heads.listeners).toBe(1);
		cached.resize(0);
		expect(heads.listeners).toBe(0);
		cached.resize(1_000);
		cached.resize(2_000);
		expect(heads.listeners).toBe(1);
		cached.close();
		expect(heads.listeners).toBe(0);
		expect(made(new ScriptedUpstreams(), 0).heads.listeners).toBe(0);
	});
});

describe("calls that ask the same at the same time", () => {
	test("share one, and each gets its answer", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const all = Array.from({ length: 20 }, () => cached.single(call([item("eth_blockNumber")])));
		expect(inner.calls).toHaveLength(1);
		inner.calls[0]?.answer(result("0x65"));
		for (const { outcome } of await Promise.all(all)) expect(textOf(outcome)).toBe('"0x65"');
		expect(cached.stats().shared).toBe(19);
		void cached.single(call([item("eth_blockNumber")]));
		expect(inner.calls).toHaveLength(2);
	});

	test("share errors of nodes and failures of upstreams, and the next one asks anew", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const both = [cached.single(call([BALANCE()])), cached.single(call([BALANCE()]))];
		inner.calls[0]?.answer(failed(-32000));
		for (const { outcome } of await Promise.all(both)) expect(outcome.kind).toBe("error");
		const more = [cached.single(call([BALANCE()])), cached.single(call([BALANCE()]))];
		inner.calls[1]?.fail(new Error("all are away"));
		for (const one of await Promise.allSettled(more))
			expect(one).toMatchObject({ status: "rejected", reason: { message: "all are away" } });
		void cached.single(call([BALANCE()]));
		expect(inner.calls).toHaveLength(3);
	});

	test("go on when one of their callers leaves, and end when all have left", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const [first, second] = [new AbortController(), new AbortController()];
		const left = cached.single(call([BALANCE("latest")], first.signal));
		const stays = cached.single(call([BALANCE("latest")], second.signal));
		first.abort(new Error("left"));
		expect(left).rejects.toThrow("left");
		expect(inner.calls[0]?.signal.aborted).toBe(false);
		inner.calls[0]?.answer(result("0x1"));
		expect(textOf((await stays).outcome)).toBe('"0x1"');

		const third = [new AbortController(), new AbortController()];
		const gone = third.map(({ signal }) => cached.single(call([BALANCE("latest")], signal)));
		for (const [index, controller] of third.entries()) {
			expect(inner.calls[1]?.signal.aborted).toBe(false);
			controller.abort(new Error(`left ${index}`));
		}
		for (const one of await Promise.allSettled(gone)) expect(one.status).toBe("rejected");
		expect(inner.calls[1]?.signal.aborted).toBe(true);
		void cached.single(call([BALANCE("latest")]));
		expect(inner.calls).toHaveLength(3);
	});

	test("of a caller that has left already ask nothing", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const gone = AbortSignal.abort(new Error("left"));
		expect(cached.single(call([BALANCE()], gone))).rejects.toThrow("left");
		expect(cached.batch(call([BALANCE()], gone))).rejects.toThrow("left");
		expect(inner.calls).toHaveLength(0);
	});

	test("are not shared where the answer may be too old: a send has ended since, or it runs for long", async () => {
		const inner = new ScriptedUpstreams();
		const { cached, pass } = made(inner);
		const nonce = () => void cached.single(call([item("eth_getTransactionCount", ["0xaa", "pending"])]));
		nonce();
		const send = cached.single(call([item("eth_sendRawTransaction", ["0x02"])]));
		nonce();
		expect(inner.calls).toHaveLength(2);
		inner.calls[1]?.answer(result(HASH));
		await send;
		nonce();
		expect(inner.calls).toHaveLength(3);
		pass(2_001);
		nonce();
		expect(inner.calls).toHaveLength(4);
		void cached.single(call([BALANCE()]));
		pass(60_000);
		void cached.single(call([BALANCE()]));
		expect(inner.calls).toHaveLength(5);
	});

	test("tell each of their callers that they went out, those that come later too", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const told: string[] = [];
		const as = (name: string) => ({ ...call([BALANCE("latest")]), onSent: () => void told.push(name) });
		const first = cached.single(as("first"));
		const second = cached.batch(as("second"));
		expect(told).toEqual([]);
		inner.calls[0]?.sent();
		expect(told).toEqual(["first", "second"]);
		const third = cached.single(as("third"));
		expect(told).toEqual(["first", "second", "third"]);
		inner.calls[0]?.answer(result("0x1"));
		await Promise.all([first, second, third]);
	});

	test("are never shared where they send something", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		for (const name of ["eth_sendRawTransaction", "eth_sendUserOperation"])
			for (let time = 0; time < 2; time++) void cached.single(call([item(name, ["0x02"])]));
		for (let time = 0; time < 2; time++) void cached.batch(call([item("eth_sendRawTransaction", ["0x02"])]));
		expect(inner.calls).toHaveLength(6);
		expect(cached.stats()).toMatchObject({ hits: 0, shared: 0, entries: 0 });
	});
});

describe("a batch", () => {
	const balances = (...blocks: string[]) => blocks.map((block) => BALANCE(block));
	const texts = (outcomes: readonly RpcOutcome[]) =>
		outcomes.map((outcome) => (outcome.kind === "missing" ? "missing" : textOf(outcome)));

	test("is answered from memory where that has it, and the rest goes out in one", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const before = cached.batch(call(balances("0x1", "0x2")));
		inner.calls[0]?.answer(result("one"), result("two"));
		await before;
		const answer = cached.batch(call([BALANCE("0x2"), BALANCE("0x3"), BALANCE("latest"), BALANCE("0x1"), BALANCE("0x4")]));
		expect(inner.calls[1]?.items.map(({ params }) => String(params))).toEqual([
			'["0xaa","0x3"]',
			'["0xaa","latest"]',
			'["0xaa","0x4"]',
		]);
		inner.calls[1]?.answer(result("three"), failed(-32000), { kind: "missing" });
		expect(texts((await answer).outcome)).toEqual(['"two"', '"three"', '{"code":-32000}', '"one"', "missing"]);
		const all = await cached.batch(call(balances("0x3", "0x2", "0x1")));
		expect(all).toMatchObject({ upstream: null, retries: 0 });
		expect(texts(all.outcome)).toEqual(['"three"', '"two"', '"one"']);
		expect(inner.calls).toHaveLength(2);
	});

	test("asks once for items that ask the same, and shares with other calls both ways", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const single = cached.single(call([item("eth_gasPrice")]));
		const batch = cached.batch(call([item("eth_blockNumber"), item("eth_gasPrice"), item("eth_blockNumber"), BALANCE("latest")]));
		const other = cached.single(call([BALANCE("latest")]));
		expect(inner.calls.map(({ items }) => items.map(({ method }) => method.name))).toEqual([
			["eth_gasPrice"],
			["eth_blockNumber", "eth_getBalance"],
		]);
		inner.calls[1]?.answer(result("block"), result("balance"));
		inner.calls[0]?.answer(result("price"));
		expect(texts((await batch).outcome)).toEqual(['"block"', '"price"', '"block"', '"balance"']);
		expect(textOf((await single).outcome)).toBe('"price"');
		expect(textOf((await other).outcome)).toBe('"balance"');
	});

	test("asks again for what another's call did not bring", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const failing = cached.single(call([item("eth_gasPrice")]));
		const first = cached.batch(call([BALANCE("0x1"), item("eth_blockNumber")]));
		const second = cached.batch(call([item("eth_gasPrice"), item("eth_blockNumber"), BALANCE("0x2")]));
		inner.calls[0]?.fail(new Error("away"));
		inner.calls[1]?.answer(result("one"), { kind: "missing" });
		inner.calls[2]?.answer(result("two"));
		expect(failing).rejects.toThrow("away");
		expect(texts((await first).outcome)).toEqual(['"one"', "missing"]);
		while (inner.calls.length < 4) await Promise.resolve();
		expect(inner.calls[3]?.items.map(({ method }) => method.name)).toEqual(["eth_gasPrice", "eth_blockNumber"]);
		inner.calls[3]?.answer(result("price"), result("block"));
		expect(texts((await second).outcome)).toEqual(['"price"', '"block"', '"two"']);
	});

	test("fails as a whole where its upstreams do, whatever is in memory", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const before = cached.single(call([BALANCE("0x1")]));
		inner.calls[0]?.answer(result("one"));
		await before;
		const answer = cached.batch(call(balances("0x1", "0x2")));
		inner.calls[1]?.fail(new Error("away"));
		expect(answer).rejects.toThrow("away");
	});

	test("with a send in it goes out as it is", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		void cached.batch(call([item("eth_chainId"), item("eth_sendRawTransaction", ["0x02"]), item("eth_chainId")]));
		void cached.batch(call([item("eth_chainId"), item("eth_sendRawTransaction", ["0x02"]), item("eth_chainId")]));
		expect(inner.calls.map(({ items }) => items.length)).toEqual([3, 3]);
	});

	test("of a caller that leaves goes on for those who joined it, and else ends", async () => {
		const inner = new ScriptedUpstreams();
		const { cached } = made(inner);
		const [a, b] = [new AbortController(), new AbortController()];
		const left = cached.batch(call([BALANCE("latest"), item("eth_gasPrice"), item("eth_gasPrice")], a.signal));
		const joined = cached.single(call([item("eth_gasPrice")]));
		a.abort(new Error("left"));
		expect(left).rejects.toThrow("left");
		expect(inner.calls[0]?.signal.aborted).toBe(false);
		inner.calls[0]?.answer(result("balance"), result("price"));
		expect(textOf((await joined).outcome)).toBe('"price"');
		const gone = cached.batch(call([BALANCE("latest")], b.signal));
		b.abort(new Error("left"));
		expect(gone).rejects.toThrow("left");
		expect(inner.calls[1]?.signal.aborted).toBe(true);
	});
});

test("what else upstreams are asked passes through", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	expect([cached.networks(), cached.online()]).toEqual([["ethereum-mainnet"], ["ethereum-mainnet"]]);
	expect(await cached.lookUp(network("ethereum-mainnet"), HASH, "r", new AbortController().signal)).toBe("absent");
});

test("hits, misses and bytes are counted by item", async () => {
	const inner = new ScriptedUpstreams(() => result("0x1"));
	const { cached } = made(inner);
	await cached.single(call([BALANCE()]));
	await cached.batch(call([BALANCE(), BALANCE("0x1"), BALANCE("latest")]));
	await cached.single(call([BALANCE("0x1")]));
	const stats = cached.stats();
	expect(stats).toMatchObject({ hits: 2, misses: 2, entries: 2 });
	expect(stats.bytes).toBeGreaterThan(0);
});

test("another bound holds at once, and none keeps nothing", async () => {
	const inner = new ScriptedUpstreams(() => result("x".repeat(1_000)));
	const { cached } = made(inner);
	for (let block = 0; block < 10; block++) await cached.single(call([BALANCE(`0x${block}`)]));
	cached.resize(12_000);
	expect(cached.stats().bytes).toBeLessThanOrEqual(12_000);
	expect(cached.stats().entries).toBeGreaterThan(0);
	cached.resize(0);
	await cached.single(call([BALANCE("0x1")]));
	expect(cached.stats()).toMatchObject({ entries: 0, bytes: 0 });
});
