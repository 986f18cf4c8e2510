import { afterEach, expect, test } from "bun:test";
import { callOf, itemOf, networkOf, rpcUpstreams, textOf } from "../../../test/support/rpc-calls.ts";
import { type ChainBehaviour, type ScriptedChain, startScriptedChain } from "../../../test/support/scripted-chain.ts";
import type { RunningRpcUpstreams } from "./upstreams.ts";

const open: (ScriptedChain | RunningRpcUpstreams)[] = [];
afterEach(async () => {
	for (const part of open.splice(0)) await ("stop" in part ? part.stop() : part.close());
});

async function chains(): Promise<[ScriptedChain, ScriptedChain]> {
	const both: [ScriptedChain, ScriptedChain] = [await startScriptedChain(), await startScriptedChain()];
	open.push(...both);
	return both;
}

async function over(...args: Parameters<typeof rpcUpstreams>): Promise<RunningRpcUpstreams> {
	const running = await rpcUpstreams(...args);
	open.push(running);
	return running;
}

const HASH = `0x${"ab".repeat(32)}`;
const send = () => itemOf("eth_sendRawTransaction", ["0x02f8"], HASH);
const error = (code: number, message: string): ChainBehaviour => ({
	answer: ({ items, isArray }) => {
		const answers = items.map(({ id }) => ({ jsonrpc: "2.0", id, error: { code, message } }));
		return isArray ? answers : answers[0];
	},
});

test("a send that an upstream is silent about goes to no other, and its outcome is unknown", async () => {
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url], { timeouts: { rpcMs: 700, rpcSlowMs: 700 } });
	first.always({ hang: true });
	await expect(upstreams.single(callOf(send()))).rejects.toMatchObject({ code: "REQUEST_TIMEOUT", unknownSends: [0] });
	await expect(upstreams.batch(callOf([itemOf("eth_call"), send(), send()]))).rejects.toMatchObject({ unknownSends: [1, 2] });
	expect(second.requests).toHaveLength(0);
});

test("a send goes on where the upstream before is known not to have taken it", async () => {
	for (const refusal of [{ status: 429, raw: "" }, error(-32016, "over rate limit"), { status: 403, raw: "no" }]) {
		const [first, second] = await chains();
		const upstreams = await over([first.url, second.url]);
		first.always(refusal);
		for (const item of [send(), itemOf("eth_sendUserOperation", [{}, "0x"]), itemOf("eth_sendRawTransaction", ["0x"])])
			expect((await upstreams.single(callOf(item))).upstream).toBe(`127.0.0.1:${second.port}`);
	}
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url]);
	await first.stop();
	expect((await upstreams.single(callOf(itemOf("eth_sendUserOperation", [])))).outcome.kind).toBe("result");
	await first.start();
	expect(second.requests).toHaveLength(1);
});

test("the same bytes to a second upstream after a fault: that it has them already is success", async () => {
	for (const fault of [{ status: 502, raw: "<p>" }, { reset: true }, { closeMidBody: true }, { raw: "" }] as ChainBehaviour[])
		for (const words of [
			"already known",
			"AlreadyKnown",
			"known transaction: 0xab",
			"Transaction with the same hash was already imported.",
		]) {
			const [first, second] = await chains();
			const upstreams = await over([first.url, second.url]);
			first.always(fault);
			second.always(error(-32000, words));
			expect(textOf((await upstreams.single(callOf(send()))).outcome)).toBe(`"${HASH}"`);
			expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
			const { outcome } = await upstreams.batch(callOf([send(), itemOf("eth_call")]));
			expect(outcome.map((one) => one.kind)).toEqual(["result", "error"]);
		}
});

test("already known without an own try before is the upstream's error, untouched", async () => {
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url]);
	first.always(error(-32000, "already known"));
	expect((await upstreams.single(callOf(send()))).outcome).toMatchObject({ kind: "error", code: -32000 });
	await first.stop();
	second.always(error(-32000, "already known"));
	expect((await upstreams.single(callOf(send()))).outcome).toMatchObject({ kind: "error", code: -32000 });
	expect(second.requests).toHaveLength(1);
});

test("a nonce that is used after an own try is success where the transaction is found", async () => {
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url]);
	first.always({ status: 502, raw: "" });
	const answers = (found: unknown) => (request: Parameters<NonNullable<ChainBehaviour["answer"]>>[0]) =>
		request.items[0]?.method === "eth_getTransactionByHash"
			? { answer: () => ({ id: request.items[0]?.id, result: found }) }
			: error(-32000, "nonce too low");
	second.always(answers({ hash: HASH }));
	expect(textOf((await upstreams.single(callOf(send()))).outcome)).toBe(`"${HASH}"`);
	second.always(answers(null));
	expect((await upstreams.single(callOf(send()))).outcome.kind).toBe("error");
});

test("a send without a known hash is not sent on after a fault", async () => {
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url]);
	first.always({ status: 502, raw: "" });
	for (const item of [itemOf("eth_sendUserOperation", []), itemOf("eth_sendRawTransaction", ["0xzz"])])
		await expect(upstreams.single(callOf(item))).rejects.toMatchObject({ code: "RPC_UPSTREAM_FAILED", unknownSends: [0] });
	const mixed = await upstreams.batch(callOf([itemOf("eth_call"), itemOf("eth_sendUserOperation", [])]));
	expect(mixed.outcome.map(({ kind }) => kind)).toEqual(["result", "missing"]);
	expect(second.requests.flatMap(({ items }) => items.map(({ method }) => method))).toEqual(["eth_call"]);
});

test("a send that the answer of a batch lacks is not sent again", async () => {
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url]);
	first.always({ answer: ({ items }) => [{ id: items[0]?.id, result: 1 }] });
	const { outcome } = await upstreams.batch(callOf([itemOf("eth_call"), send()]));
	expect(outcome.map(({ kind }) => kind)).toEqual(["result", "missing"]);
	expect(second.requests).toHaveLength(0);
});

test("a look-up asks all upstreams whether they know a transaction", async () => {
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url]);
	const look = (signal = new AbortController().signal) => upstreams.lookUp(networkOf("ethereum-mainnet"), HASH, "r", signal);
	first.result("eth_getTransactionByHash", () => null);
	second.result("eth_getTransactionByHash", () => ({ hash: HASH }));
	expect(await look()).toBe("found");
	second.result("eth_getTransactionByHash", () => null);
	expect(await look()).toBe("absent");
	first.always({ status: 500, raw: "" });
	expect(await look()).toBe("absent");
	second.always({ status: 500, raw: "" });
	expect(await look()).toBe("unreachable");
	expect(first.requests[0]?.items[0]?.params).toEqual([HASH]);
	await expect(look(AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
});

test("the caller is told of each try before its bytes go out", async () => {
	const [first, second] = await chains();
	const upstreams = await over([first.url, second.url]);
	first.always({ status: 429, raw: "" });
	const told: string[] = [];
	await upstreams.single(callOf(send(), { onSent: (upstream) => void told.push(upstream) }));
	expect(told).toEqual([first, second].map(({ port }) => `127.0.0.1:${port}`));
});
