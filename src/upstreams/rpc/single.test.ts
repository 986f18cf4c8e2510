import { afterEach, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { callOf, itemOf, rpcUpstreams, textOf } from "../../../test/support/rpc-calls.ts";
import { type ChainBehaviour, type ScriptedChain, startScriptedChain } from "../../../test/support/scripted-chain.ts";
import { until } from "../../../test/support/until.ts";
import { RpcCallError } from "./port.ts";
import type { RunningRpcUpstreams } from "./upstreams.ts";

const open: (ScriptedChain | RunningRpcUpstreams)[] = [];
afterEach(async () => {
	for (const part of open.splice(0)) await ("stop" in part ? part.stop() : part.close());
});

async function chain(chainId?: string): Promise<ScriptedChain> {
	const started = await startScriptedChain(chainId);
	open.push(started);
	return started;
}

async function over(...args: Parameters<typeof rpcUpstreams>): Promise<RunningRpcUpstreams> {
	const running = await rpcUpstreams(...args);
	open.push(running);
	return running;
}

const call = (method = "eth_call", params: unknown = []) => callOf(itemOf(method, params));

async function failure(promise: Promise<unknown>): Promise<RpcCallError> {
	try {
		await promise;
	} catch (error) {
		if (error instanceof RpcCallError) return error;
		throw error;
	}
	throw new Error("it did not fail");
}

test("params go out byte for byte, under an id of our own and with the request's id", async () => {
	const node = await chain();
	const upstreams = await over([{ url: node.url, headers: { "X-Key": "k" } }]);
	const params = '[ {"to":"0x1","n":1e400,"x":"\\u0041é"} , 12345678901234567890 ]';
	const { outcome, upstream, retries } = await upstreams.single(call("eth_call", params));
	expect(outcome).toMatchObject({ kind: "result" });
	expect(textOf(outcome)).toBe('"0x2a"');
	expect(upstream).toBe(`127.0.0.1:${node.port}`);
	expect(retries).toBe(0);
	const [request] = node.requests;
	expect(request?.text).toContain(`"method":"eth_call","params":${params}}`);
	expect(Object.keys(request?.items[0] ?? {})).toEqual(["jsonrpc", "id", "method", "params"]);
	expect(request?.headers).toMatchObject({ "x-request-id": "r".repeat(32), "x-key": "k", "accept-encoding": "identity" });
});

test("the bytes of a result and of an error are untouched", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	const value = '{"b":1.0,"a":12345678901234567890,"s":"\\u00e9 \\/","n":null, "deep":[[[]]]}';
	for (const make of [
		(id: number) => `{"jsonrpc":"2.0","id":${id},"result":${value}}`,
		(id: number) => ` \n{"result" : ${value} ,"id":${id},"jsonrpc":"2.0"}\n`,
		(id: number) => `{"jsonrpc":"2.0","error":null,"result":${value},"id":"${id}","extra":{"result":1}}`,
		(id: number) => ` [ {"jsonrpc":"2.0","id":${id},"result":${value}} ] `,
	]) {
		node.always((request) => ({ raw: make(request.items[0]?.id ?? 0) }));
		expect(textOf((await upstreams.single(call())).outcome)).toBe(value);
	}
	const error = '{"code":3,"message":"execution reverted: \\"no\\"","data":"0x08c379a0"}';
	node.always((request) => ({ raw: `{"jsonrpc":"2.0","id":${request.items[0]?.id},"error":${error}}` }));
	const { outcome } = await upstreams.single(call());
	expect(outcome).toMatchObject({ kind: "error", code: 3 });
	expect(textOf(outcome)).toBe(error);
});

const answers: Record<string, unknown> = {
	revert: { error: { code: 3, message: "execution reverted", data: "0x" } },
	"a nonce that is used": { error: { code: -32000, message: "nonce too low" } },
	"invalid params": { error: { code: -32602, message: "invalid argument 0" } },
	"null, a receipt that is not there": { result: null },
	"too many logs, under a code of rate limits": { error: { code: -32005, message: "query returned more than 10000 results" } },
	"a method not found": { error: { code: -32601, message: "the method x does not exist" } },
};
for (const [name, answer] of Object.entries(answers))
	test(`${name} is an answer, and no other upstream is bothered but for a missing method`, async () => {
		const [first, second] = [await chain(), await chain()];
		for (const node of [first, second])
			node.always({ answer: ({ items }) => ({ jsonrpc: "2.0", id: items[0]?.id, ...(answer as object) }) });
		const upstreams = await over([first.url, second.url]);
		for (let round = 0; round < 5; round++) expect((await upstreams.single(call())).outcome.kind).toMatch(/result|error/);
		expect(first.requests).toHaveLength(5);
		expect(second.requests).toHaveLength(name.startsWith("a method") ? 1 : 0);
		expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ state: "up", consecutiveFaults: 0 });
	});

const withId = (more: object) => ({
	answer: ({ items }: { items: readonly { id: number }[] }) => ({ jsonrpc: "2.0", id: items[0]?.id, ...more }),
});
const faults: Record<string, ChainBehaviour> = {
	"502 with a page": { status: 502, raw: "<html>bad gateway</html>", headers: { "content-type": "text/html" } },
	"200 with a page": { raw: "<!doctype html><p>hello", headers: { "content-type": "text/html" } },
	"429": { status: 429, raw: "slow down", headers: { "retry-after": "1" } },
	"an empty 500": { status: 500, raw: "" },
	"an empty 200": { raw: "" },
	"a redirect": { status: 302, raw: "", headers: { location: "http://127.0.0.1:1/" } },
	"401": { status: 401, raw: '{"error":"no key"}' },
	"a close inside the body": { closeMidBody: true },
	"a reset": { reset: true },
	"an empty array": { raw: "[]" },
	"an array of two": withRaw((id) => `[{"jsonrpc":"2.0","id":${id},"result":1},{"jsonrpc":"2.0","id":${id},"result":2}]`),
	"an array that does not end": withRaw((id) => `[{"jsonrpc":"2.0","id":${id},"result":1}`),
	"an array of something else": { raw: "[null]" },
	"no JSON": { raw: "hello" },
	"half of a JSON": { raw: '{"jsonrpc":"2.0","id":' },
	"broken brackets": withRaw((id) => `{"jsonrpc":"2.0","id":${id},"result":[}}`),
	"a word that is none": withRaw((id) => `{"jsonrpc":"2.0","id":${id},"result":undefined}`),
	"a word that is none inside of its value": withRaw((id) => `{"jsonrpc":"2.0","id":${id},"result":{"a":tru}}`),
	"a line break inside of its value": withRaw((id) => `{"jsonrpc":"2.0","id":${id},"result":"a\nb"}`),
	"bytes after it": withRaw((id) => `{"jsonrpc":"2.0","id":${id},"result":1}}`),
	"another id": withRaw((id) => `{"jsonrpc":"2.0","id":${id + 1},"result":1}`),
	"no id": { raw: '{"jsonrpc":"2.0","result":1}' },
	"neither result nor error": withId({}),
	"both result and error": withId({ result: 1, error: { code: 1, message: "x" } }),
	"an error that is text": withId({ error: "rate limited" }),
	"two results": withRaw((id) => `{"jsonrpc":"2.0","id":${id},"result":1,"result":2}`),
	"a packing that nobody asked for": { raw: "x", headers: { "content-encoding": "lzma" } },
	"gzip that is none": { raw: "x".repeat(100), headers: { "content-encoding": "gzip" } },
	...Object.fromEntries(
		[429, -32005, -32007, -32011, -32012, -32016].map((code) => [
			`a pause asked for by ${code}`,
			withId({ error: { code, message: "request limit reached" } }),
		]),
	),
};
function withRaw(raw: (id: number) => string): ChainBehaviour {
	// The scripted node takes the body from `answer` as JSON: a raw one is put together from the request.
	return { answer: ({ items }) => new Raw(raw(items[0]?.id ?? 0)) };
}
class Raw {
	readonly text: string;
	constructor(text: string) {
		this.text = text;
	}
}
for (const [name, fault] of Object.entries(faults))
	test(`${name} is a fault: the next upstream answers`, async () => {
		const [first, second] = [await chain(), await chain()];
		first.always((request) => {
			const made = fault.answer?.(request);
			return made instanceof Raw ? { raw: made.text } : fault;
		});
		const upstreams = await over([first.url, second.url]);
		const { outcome, retries, upstream } = await upstreams.single(call());
		expect(textOf(outcome)).toBe('"0x2a"');
		expect(upstream).toBe(`127.0.0.1:${second.port}`);
		// One reset of a kept connection says nothing: the same one is asked once more on a new one.
		expect(retries).toBe(name === "a reset" ? 2 : 1);
	});

test("a faulty upstream alone ends in 502, one that asks for a pause with Retry-After", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	node.always({ status: 502, raw: "" });
	expect(await failure(upstreams.single(call()))).toMatchObject({ code: "RPC_UPSTREAM_FAILED", status: 502, unknownSends: [] });
	node.always({ status: 429, raw: "", headers: { "retry-after": "7" } });
	expect(await failure(upstreams.single(call()))).toMatchObject({ status: 502, options: { retryAfterSeconds: 7 } });
});

test("a pause until an instant is as long as the upstream means it, however its clock is set", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	for (const skewMs of [-7_200_000, 0, 7_200_000]) {
		const at = Date.now() + skewMs;
		const headers = { date: new Date(at).toUTCString(), "retry-after": new Date(at + 9_000).toUTCString() };
		node.always({ status: 429, raw: "", headers });
		expect(await failure(upstreams.single(call()))).toMatchObject({ options: { retryAfterSeconds: 9 } });
	}
});

test("an upstream that is silent to the end is a 504, and one that is silent once is moved past", async () => {
	const [first, second] = [await chain(), await chain()];
	const alone = await over([first.url], { timeouts: { rpcMs: 150, rpcSlowMs: 150 } });
	first.always({ hang: true });
	expect(await failure(alone.single(call()))).toMatchObject({ code: "REQUEST_TIMEOUT", status: 504 });
	const both = await over([first.url, second.url]);
	expect((await both.single(call())).upstream).toBe(`127.0.0.1:${second.port}`);
});

test("a node that puts JSON-RPC errors beside other statuses is understood", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	const error = { code: 3, message: "execution reverted", data: "0x01" };
	for (const status of [400, 500, 404]) {
		node.always({ ...withId({ error }), status });
		for (let round = 0; round < 4; round++)
			expect((await upstreams.single(call())).outcome).toMatchObject({ kind: "error", code: 3 });
		expect(upstreams.online()).toEqual(["ethereum-mainnet"]);
	}
	node.always({ raw: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}', status: 400 });
	expect((await upstreams.single(call())).outcome).toMatchObject({ kind: "error", code: -32600 });
});

test("packed answers are unpacked, small and large, and a bomb is a fault", async () => {
	const node = await chain();
	const upstreams = await over([node.url]);
	const packings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };
	for (const [encoding, pack] of Object.entries(packings)) {
		node.always({ pack: { encoding, with: (body) => pack(body) } });
		expect(textOf((await upstreams.single(call())).outcome)).toBe('"0x2a"');
		const value = Array.from({ length: 40_000 }, (_, index) => `0x${index}`);
		node.always({ ...withId({ result: value }), pack: { encoding, with: (body) => pack(body) } });
		const { outcome } = await upstreams.single(call());
		if (!("cancel" in outcome)) throw new Error("no stream");
		expect(await new Response(outcome.value).text()).toBe(JSON.stringify(value));
	}
	const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
	node.always({ raw: bomb, headers: { "content-encoding": "gzip" } });
	expect(await failure(upstreams.single(call()))).toMatchObject({ status: 502 });
	const truncated = gzipSync(JSON.stringify({ result: "x".repeat(100) })).subarray(0, -12);
	node.always({ raw: truncated, headers: { "content-encoding": "gzip" } });
	expect(await failure(upstreams.single(call()))).toMatchObject({ status: 502 });
});

test("the caller who leaves stops the upstream, and gets their own reason", async () => {
	const node = await chain();
	node.always({ hang: true });
	const upstreams = await over([node.url]);
	const controller = new AbortController();
	const running = upstreams.single(callOf(itemOf("eth_call"), { signal: controller.signal }));
	await until(() => node.requests.length > 0);
	controller.abort(new Error("left"));
	expect(running).rejects.toThrow("left");
	await until(() => node.requests[0]?.isAborted === true);
	expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ running: 0, consecutiveFaults: 0 });
});
