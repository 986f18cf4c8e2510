import { afterEach, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { callOf, itemOf, rpcUpstreams, textOf } from "../../../test/support/rpc-calls.ts";
import { type ChainRequest, type ScriptedChain, startScriptedChain } from "../../../test/support/scripted-chain.ts";
import { until } from "../../../test/support/until.ts";
import type { RpcStream } from "./port.ts";
import type { RunningRpcUpstreams } from "./upstreams.ts";

const open: (ScriptedChain | RunningRpcUpstreams)[] = [];
afterEach(async () => {
	for (const part of open.splice(0)) await ("stop" in part ? part.stop() : part.close());
});

async function nodeAndUpstreams(...others: ScriptedChain[]): Promise<[ScriptedChain, RunningRpcUpstreams]> {
	const node = await startScriptedChain();
	const upstreams = await rpcUpstreams([node.url, ...others.map(({ url }) => url)]);
	open.push(node, upstreams);
	return [node, upstreams];
}

async function streamOf(upstreams: RunningRpcUpstreams, signal?: AbortSignal): Promise<RpcStream> {
	const { outcome } = await upstreams.single(callOf(itemOf("eth_getLogs", [{}]), signal ? { signal } : {}));
	if (!("cancel" in outcome)) throw new Error("no stream");
	return outcome;
}

/** The value, however it came: an answer that is here as soon as it is looked at needs no stream. */
async function allOf(upstreams: RunningRpcUpstreams): Promise<string> {
	const { outcome } = await upstreams.single(callOf(itemOf("eth_getLogs", [{}])));
	return "cancel" in outcome ? new Response(outcome.value).text() : textOf(outcome);
}

const idOf = ({ items }: ChainRequest) => items[0]?.id ?? 0;
const LONG = JSON.stringify(Array.from({ length: 40_000 }, (_, index) => `0x${index}"]}{[`));

test("a long result is handed on while it comes, wherever the id stands", async () => {
	const [node, upstreams] = await nodeAndUpstreams();
	for (const make of [
		(id: number) => `{"jsonrpc":"2.0","id":${id},"result":${LONG}}`,
		(id: number) => `{"result":${LONG} , "id" : ${id}, "jsonrpc":"2.0"} \n`,
		(id: number) => `{"error":null,"jsonrpc":"2.0","result":${LONG},"id":"${id}"}`,
	])
		for (const pieces of [undefined, 4_096, 65_536]) {
			node.always((request) => ({ raw: make(idOf(request)), ...(pieces === undefined ? {} : { pieces }) }));
			expect(await allOf(upstreams)).toBe(LONG);
		}
	node.always((request) => ({ raw: `{"error":{"code":3,"data":${LONG}},"id":${idOf(request)}}` }));
	expect(JSON.parse(await allOf(upstreams))).toMatchObject({ code: 3 });
	expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ running: 0, consecutiveFaults: 0 });
});

test("a stream that turns out to be no answer fails before its last byte", async () => {
	const [node, upstreams] = await nodeAndUpstreams();
	for (const make of [
		(id: number) => `{"id":${id},"result":${LONG},"error":{"code":1}}`,
		(id: number) => `{"result":${LONG},"id":${id + 1}}`,
		() => `{"result":${LONG}}`,
		(id: number) => `{"id":${id},"result":${LONG}} x`,
		(id: number) => `{"id":${id},"result":${LONG}`,
		(id: number) => `{"id":${id},"result":${LONG.slice(0, -1)}}}`,
	]) {
		node.always((request) => ({ raw: make(idOf(request)) }));
		await expect(allOf(upstreams)).rejects.toThrow();
	}
});

test("what is no beginning of an answer goes to the next upstream", async () => {
	const second = await startScriptedChain();
	open.push(second);
	const [node, upstreams] = await nodeAndUpstreams(second);
	for (const raw of [`[${LONG}]`, `{"other":${LONG}}`, `{"id":-1,"result":${LONG}}`, `<html>${LONG}`, " ".repeat(400_000)]) {
		node.always({ raw });
		const { upstream } = await upstreams.single(callOf(itemOf("eth_getLogs", [{}])));
		expect(upstream).toBe(`127.0.0.1:${second.port}`);
	}
});

test("an upstream that breaks off fails the stream and counts as faulty; a reader that leaves does not", async () => {
	const [node, upstreams] = await nodeAndUpstreams();
	node.always((request) => ({ raw: `{"id":${idOf(request)},"result":${LONG}}`, closeMidBody: true }));
	await expect(allOf(upstreams)).rejects.toThrow();
	expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ running: 0, consecutiveFaults: 1 });

	const endless = function* (): Generator<Uint8Array> {
		yield Buffer.from('{"result":"');
		for (;;) yield Buffer.alloc(65_536, 0x61);
	};
	node.always({ stream: endless });
	const left = await streamOf(upstreams);
	expect(left.kind).toBe("result-stream");
	const reader = left.value.getReader();
	await reader.read();
	left.cancel();
	left.cancel();
	const controller = new AbortController();
	const aborted = await streamOf(upstreams, controller.signal);
	controller.abort(new Error("left"));
	await expect(new Response(aborted.value).bytes()).rejects.toThrow("left");
	await until(() => node.requests.every(({ isAborted }) => isAborted));
	expect(upstreams.snapshot()[0]?.upstreams[0]).toMatchObject({ running: 0, consecutiveFaults: 0 });
});

test("an upstream that falls silent in the middle fails the stream", async () => {
	const node = await startScriptedChain();
	const upstreams = await rpcUpstreams([node.url], { timeouts: { rpcMs: 3_000, rpcSlowMs: 3_000 } });
	open.push(node, upstreams);
	const wait = Promise.withResolvers<void>();
	node.always({
		stream: function* () {
			yield Buffer.from(`{"result":"${"a".repeat(300_000)}`);
			yield Buffer.alloc(0);
		},
		waitAtEnd: wait.promise,
	});
	const stream = await streamOf(upstreams);
	await expect(new Response(stream.value).bytes()).rejects.toThrow("silent");
	wait.resolve();
});

test("50 MB pass through a slow reader without being held, packed or not", async () => {
	const [node, upstreams] = await nodeAndUpstreams();
	const piece = Buffer.from(`"0x${"ab".repeat(32 * 1024)}",`);
	const count = Math.ceil((50 * 1024 * 1024) / piece.length);
	let made = 0;
	const pieces = function* (): Generator<Uint8Array> {
		yield Buffer.from('{"jsonrpc":"2.0","result":[');
		for (made = 0; made < count; made++) yield piece;
		yield Buffer.from(`0],"id":${idOf(node.requests.at(-1) as ChainRequest)}}`);
	};
	node.always({ stream: pieces });
	const stream = await streamOf(upstreams);
	const reader = stream.value.getReader();
	let length = (await reader.read()).value?.length ?? 0;
	await Bun.sleep(100);
	const ahead = made;
	for (let read = await reader.read(); !read.done; read = await reader.read()) length += read.value.length;
	expect(length).toBe(piece.length * count + 3);
	// What nobody reads stays with the upstream, but for what the sockets hold.
	expect(ahead * piece.length).toBeLessThan(20 * 1024 * 1024);

	const whole = Buffer.concat([...pieces()].slice(0, -1));
	node.always((request) => ({
		raw: gzipSync(Buffer.concat([whole, Buffer.from(`0],"id":${idOf(request)}}`)])),
		headers: { "content-encoding": "gzip" },
	}));
	const packed = await streamOf(upstreams);
	let unpacked = 0;
	for await (const bytes of packed.value as unknown as AsyncIterable<Uint8Array>) unpacked += bytes.length;
	expect(unpacked).toBe(piece.length * count + 3);
});
