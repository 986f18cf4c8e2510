import { afterEach, expect, test } from "bun:test";
import { callOf, itemOf, rpcUpstreams, textOf } from "../../../test/support/rpc-calls.ts";
import {
	type ChainBehaviour,
	type ChainRequest,
	type ScriptedChain,
	startScriptedChain,
} from "../../../test/support/scripted-chain.ts";
import { RpcCallError } from "./port.ts";
import type { RunningRpcUpstreams } from "./upstreams.ts";

const open: (ScriptedChain | RunningRpcUpstreams)[] = [];
afterEach(async () => {
	for (const part of open.splice(0)) await ("stop" in part ? part.stop() : part.close());
});

async function chain(): Promise<ScriptedChain> {
	const started = await startScriptedChain();
	open.push(started);
	started.result("eth_call", (params: unknown) => params);
	return started;
}

async function over(...args: Parameters<typeof rpcUpstreams>): Promise<RunningRpcUpstreams> {
	const running = await rpcUpstreams(...args);
	open.push(running);
	return running;
}

/** eth_call with the position as its param: a node echoes it. */
const calls = (count: number, more = {}) =>
	callOf(
		Array.from({ length: count }, (_, index) => itemOf("eth_call", [index])),
		more,
	);

type Answers = { jsonrpc: string; id: number; result?: unknown; error?: unknown }[];
/** What a good node answers, to be spoilt. */
const good = ({ items }: ChainRequest): Answers => items.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params }));
const spoilt = (change: (answers: Answers) => unknown): ChainBehaviour => ({ answer: (request) => change(good(request)) });

const inOrder = (count: number) => Array.from({ length: count }, (_, index) => `[${index}]`);

test("a batch is one array for the upstream, and answers are put in place by their ids", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	node.always(spoilt((answers) => answers.toReversed()));
	const { outcome, retries } = await upstreams.batch(calls(100));
	expect(outcome.map(textOf)).toEqual(inOrder(100));
	expect(retries).toBe(0);
	expect(node.requests).toHaveLength(1);
	expect(node.requests[0]?.isArray).toBe(true);
	node.always(
		spoilt((answers) => [
			...answers,
			...answers.map((answer) => ({ ...answer, result: "twice" })),
			{ jsonrpc: "2.0", id: 1e9, result: 1 },
		]),
	);
	expect((await upstreams.batch(calls(3))).outcome.map(textOf)).toEqual(inOrder(3));
});

test("a batch of one is an array, and errors inside it are answers", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	node.always(spoilt(([answer]) => [{ ...answer, result: undefined, error: { code: 3, message: "reverted" } }]));
	const { outcome } = await upstreams.batch(calls(1));
	expect(outcome).toMatchObject([{ kind: "error", code: 3 }]);
	expect(node.requests[0]?.isArray).toBe(true);
});

test("missing and broken items are asked of the next upstream, and only those", async () => {
	const [first, second] = [await chain(), await chain()];
	const upstreams = await over([first.url, second.url]);
	first.always(
		spoilt((answers) => [
			answers[0],
			{ ...answers[2], error: { code: 1 } },
			{ ...answers[3], result: undefined, error: { code: -32005, message: "rate" } },
		]),
	);
	const { outcome, upstream } = await upstreams.batch(calls(5));
	expect(outcome.map(textOf)).toEqual(inOrder(5));
	expect(second.requests).toHaveLength(1);
	expect(second.requests[0]?.items.map(({ params }) => params)).toEqual([[1], [2], [3], [4]]);
	expect(upstream).toBe(`127.0.0.1:${second.port}`);
});

test("each result tells which upstream it came from", async () => {
	const [first, second] = [await chain(), await chain()];
	const upstreams = await over([
		{ url: first.url, name: "first" },
		{ url: second.url, name: "second" },
	]);
	first.always(spoilt((answers) => answers.filter((_, index) => index !== 1)));
	const { outcome } = await upstreams.batch(calls(3));
	expect(outcome.map((one) => (one.kind === "result" ? one.upstream : null))).toEqual(["first", "second", "first"]);
});

test("an item that nobody answers is missing; a batch that nobody answers fails", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	node.always(spoilt((answers) => answers.slice(0, 1)));
	expect((await upstreams.batch(calls(2))).outcome.map(({ kind }) => kind)).toEqual(["result", "missing"]);
	for (const behaviour of [
		spoilt(() => []),
		spoilt(([answer]) => answer),
		{ status: 502, raw: "" },
		{ raw: "<p>" },
		{ closeMidBody: true },
	]) {
		node.always(behaviour);
		await expect(upstreams.batch(calls(2))).rejects.toMatchObject({ code: "RPC_UPSTREAM_FAILED" });
	}
});

test("a whole array that fails is asked of the next upstream", async () => {
	for (const behaviour of [
		{ status: 502, raw: "<html>" },
		{ status: 429, raw: "" },
		spoilt(([answer]) => answer),
		spoilt(() => ({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "no" } })),
		spoilt((answers) => answers.map(({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32016, message: "over rate limit" } }))),
		{ closeMidBody: true },
	] as ChainBehaviour[]) {
		const [first, second] = [await chain(), await chain()];
		const upstreams = await over([first.url, second.url]);
		first.always(behaviour);
		expect((await upstreams.batch(calls(4))).outcome.map(textOf)).toEqual(inOrder(4));
		expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
	}
});

test("an upstream that takes no long arrays gets shorter ones, and is remembered for it", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	const limit = (max: number, refusal: ChainBehaviour) => (request: ChainRequest) => (request.items.length > max ? refusal : {});
	node.always(
		limit(
			20,
			spoilt(() => ({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "batch too large: at most 20 requests" } })),
		),
	);
	expect((await upstreams.batch(calls(50))).outcome.map(textOf)).toEqual(inOrder(50));
	expect(node.requests.map(({ items }) => items.length)).toEqual([50, 20, 20, 10]);
	expect((await upstreams.batch(calls(30))).outcome.map(textOf)).toEqual(inOrder(30));
	expect(node.requests.slice(4).map(({ items }) => items.length)).toEqual([20, 10]);
	node.always(limit(5, { status: 413, raw: "" }));
	expect((await upstreams.batch(calls(20))).outcome.map(textOf)).toEqual(inOrder(20));
});

test("an upstream that takes no arrays at all is asked one by one", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	const refusal = spoilt(() => ({
		jsonrpc: "2.0",
		id: null,
		error: { code: -32600, message: "batch requests are not supported" },
	}));
	node.always((request) => (request.isArray ? refusal : {}));
	expect((await upstreams.batch(calls(12))).outcome.map(textOf)).toEqual(inOrder(12));
	node.requests.length = 0;
	expect((await upstreams.batch(calls(12))).outcome.map(textOf)).toEqual(inOrder(12));
	expect(node.requests.every(({ isArray }) => !isArray)).toBe(true);
});

test("a method that one upstream lacks goes to another, the rest of the batch does not", async () => {
	const [first, second] = [await chain(), await chain()];
	const upstreams = await over([first.url, second.url]);
	first.always({
		answer: ({ items }) =>
			items.map(({ id, method, params }) =>
				method === "trace_block"
					? { id, error: { code: -32601, message: "the method trace_block does not exist" } }
					: { id, result: params },
			),
	});
	const mixed = callOf([itemOf("eth_call", [0]), itemOf("trace_block", ["0x1"]), itemOf("eth_call", [2])]);
	expect((await upstreams.batch(mixed)).outcome.map(textOf)).toEqual(["[0]", '"0x2a"', "[2]"]);
	await upstreams.batch(mixed);
	expect(first.requests.map(({ items }) => items.length)).toEqual([3, 2]);
	expect(second.requests.map(({ items }) => items.length)).toEqual([1, 1]);
	second.always({ answer: ({ items }) => items.map(({ id }) => ({ id, error: { code: -32601, message: "not found" } })) });
	expect((await upstreams.batch(mixed)).outcome.map(({ kind }) => kind)).toEqual(["result", "error", "result"]);
});

test("a silent upstream of a batch is moved past, and a time-out of all is a 504", async () => {
	const [first, second] = [await chain(), await chain()];
	first.always({ hang: true });
	const both = await over([first.url, second.url]);
	expect((await both.batch(calls(3))).outcome.map(textOf)).toEqual(inOrder(3));
	const alone = await over([first.url], { timeouts: { rpcMs: 100, rpcSlowMs: 100 } });
	await expect(alone.batch(calls(3))).rejects.toMatchObject({ code: "REQUEST_TIMEOUT", unknownSends: [] });
});

test("many big answers do not stay in memory", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	const piece = Buffer.alloc(1024 * 1024, 0x61);
	node.always(({ items }) => ({
		stream: function* () {
			for (const [index, { id }] of items.entries()) {
				yield Buffer.from(`${index === 0 ? "[" : ","}{"jsonrpc":"2.0","id":${id},"result":"`);
				for (let count = 0; count < 20; count++) yield piece;
				yield Buffer.from('"}');
			}
			yield Buffer.from("]");
		},
	}));
	const { outcome } = await upstreams.batch(calls(3));
	for (const one of outcome) {
		if (one.kind !== "result") throw new Error(one.kind);
		expect(one.value.length).toBe(20 * 1024 * 1024 + 2);
		expect([one.value[0], one.value[1], one.value.at(-2), one.value.at(-1)]).toEqual([0x22, 0x61, 0x61, 0x22]);
	}
});

test("no upstream at all says what to configure", async () => {
	const upstreams = await over([]);
	const error = await upstreams.batch(calls(1)).catch((thrown: unknown) => thrown);
	expect(error).toBeInstanceOf(RpcCallError);
	expect(error).toMatchObject({ code: "RPC_NETWORK_OFFLINE", status: 503 });
	expect(String(error)).toContain("TURNPIKE_RPC_ETHEREUM_MAINNET");
});

test("an item whose value is no JSON does not spoil the others, and is asked of the next upstream alone", async () => {
	const [first, second] = [await chain(), await chain()];
	const upstreams = await over([first.url, second.url]);
	first.always((request) => ({ raw: JSON.stringify(good(request)).replace('"result":[1]', '"result":{"a":tru}') }));
	expect((await upstreams.batch(calls(3))).outcome.map(textOf)).toEqual(inOrder(3));
	expect(second.requests.map(({ items }) => items.map(({ params }) => params))).toEqual([[[1]]]);
	const alone = await over([first.url]);
	expect((await alone.batch(calls(3))).outcome.map(({ kind }) => kind)).toEqual(["result", "missing", "result"]);
});

test.each([
	["null", null],
	["a text", "no"],
	["a number", 7],
	["a list", [{ jsonrpc: "2.0", id: 1, result: 1 }]],
	["nothing", {}],
])("an element that is %s loses its own item alone, and takes nobody out", async (_name, element) => {
	const node = await chain();
	const upstreams = await over([node.url]);
	node.always(spoilt((answers) => answers.map((answer, index) => (answers.length > 1 && index === 1 ? element : answer))));
	for (let time = 0; time < 4; time++) {
		const { outcome } = await upstreams.batch(calls(3));
		expect(outcome.map((one) => one.kind)).toEqual(["result", "missing", "result"]);
		expect(outcome.filter(({ kind }) => kind === "result").map(textOf)).toEqual(["[0]", "[2]"]);
	}
	expect(upstreams.snapshot()[0]?.upstreams[0]?.state).toBe("up");
});

test("an element that is no object is asked for at the next upstream", async () => {
	const [odd, fine] = [await chain(), await chain()];
	const upstreams = await over([odd.url, fine.url]);
	odd.always(spoilt((answers) => [answers[0], null, answers[2]]));
	const { outcome } = await upstreams.batch(calls(3));
	expect(outcome.map(textOf)).toEqual(inOrder(3));
});

test("an element with two results loses its own item alone", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	node.always({
		answer: (request) =>
			good(request).map((answer, index) => ({ ...answer, ...(index === 1 ? { error: { code: 1, message: "x" } } : {}) })),
	});
	expect((await upstreams.batch(calls(3))).outcome.map(({ kind }) => kind)).toEqual(["result", "missing", "result"]);
});

test("the hash of a send stands beside an element that is no object", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	const hash = `0x${"ab".repeat(32)}`;
	node.always(spoilt(([first, send]) => [first, { ...send, result: hash }, null]));
	const call = callOf([itemOf("eth_call", [0]), itemOf("eth_sendRawTransaction", ["0x01"]), itemOf("eth_call", [2])]);
	const { outcome } = await upstreams.batch(call);
	expect(outcome.slice(0, 2).map(textOf)).toEqual(["[0]", JSON.stringify(hash)]);
});

test("an array of far more answers than were asked for is none, and is not read on", async () => {
	const [node, other] = [await chain(), await chain()];
	const upstreams = await over([node.url, other.url]);
	node.always(spoilt((answers) => [...answers, ...Array.from({ length: 100 }, () => null)]));
	expect((await upstreams.batch(calls(2))).outcome.map(textOf)).toEqual(inOrder(2));
	expect(other.requests).toHaveLength(0);
	node.always({ stream: () => [Buffer.from(`[${"null,".repeat(500_000)}null]`)] });
	const { outcome, retries } = await upstreams.batch(calls(2));
	expect(outcome.map(textOf)).toEqual(inOrder(2));
	expect([retries, other.requests.length]).toEqual([1, 1]);
	node.always(spoilt((answers) => [...answers, ...Array.from({ length: 101 }, () => null)]));
	expect((await upstreams.batch(calls(2))).retries).toBe(1);
});
