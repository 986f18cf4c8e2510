import { expect, test } from "bun:test";
import { itemOf as item, textOf } from "../../../../test/support/rpc-calls.ts";
import { BALANCE, call, madeCache as made, result, ScriptedUpstreams } from "../../../../test/support/scripted-rpc-upstreams.ts";
import type { RpcOutcome, RpcStream } from "../port.ts";

/** These pieces one by one; `broken` breaks off, `silent` is waited for in vain. */
function stream(pieces: readonly string[]): RpcStream & { cancelled: number; silent: Promise<void> } {
	const rest = [...pieces];
	const silent = Promise.withResolvers<void>();
	const one = {
		kind: "result-stream" as const,
		cancelled: 0,
		silent: silent.promise,
		cancel: () => void one.cancelled++,
		value: new ReadableStream<Uint8Array>(
			{
				pull(controller) {
					const piece = rest.shift();
					if (piece === undefined) controller.close();
					else if (piece === "silent") {
						silent.resolve();
						return new Promise<void>(() => {});
					} else if (piece === "broken") controller.error(new Error("broken off"));
					else controller.enqueue(Buffer.from(piece));
				},
				cancel: () => void one.cancelled++,
			},
			{ highWaterMark: 0 },
		),
	};
	return one;
}
const read = async (outcome: RpcOutcome | RpcStream) => {
	if (!("cancel" in outcome)) throw new Error(outcome.kind);
	return new Response(outcome.value).text();
};

test("a big answer that several wait for is read once, and all have it whole", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const all = [cached.single(call([item("txpool_content")])), cached.single(call([item("txpool_content")]))];
	const batch = cached.batch(call([item("txpool_content"), item("eth_gasPrice")]));
	inner.calls[1]?.answer(result("0x1"));
	inner.calls[0]?.answer(stream(['{"a"', ":1}"]));
	for (const { outcome } of await Promise.all(all)) expect(textOf(outcome)).toBe('{"a":1}');
	expect((await batch).outcome.map((one) => textOf(one))).toEqual(['{"a":1}', '"0x1"']);
	expect(inner.calls).toHaveLength(2);
});

test("a big answer that several wait for is kept where it stays true", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const all = [cached.single(call([BALANCE()])), cached.single(call([BALANCE()]))];
	inner.calls[0]?.answer(stream(["[1", ",2]"]));
	await Promise.all(all);
	expect(textOf((await cached.single(call([BALANCE()]))).outcome)).toBe("[1,2]");
	expect(inner.calls).toHaveLength(1);
});

test("a big answer that breaks off while several wait is a failure of the upstream for each", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const all = [cached.single(call([item("txpool_content")])), cached.single(call([item("txpool_content")]))];
	const broken = stream(["{", "broken"]);
	inner.calls[0]?.answer(broken);
	for (const one of await Promise.allSettled(all))
		expect(one).toMatchObject({ status: "rejected", reason: { code: "RPC_UPSTREAM_FAILED" } });
	expect(broken.cancelled).toBeGreaterThan(0);
});

test("a big answer is stopped when all who wait for the whole of it have left", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const callers = [new AbortController(), new AbortController()];
	const all = callers.map(({ signal }) => cached.single(call([item("txpool_content")], signal)));
	const endless = stream(["{", "silent"]);
	inner.calls[0]?.answer(endless);
	await endless.silent;
	for (const caller of callers) caller.abort(new Error("left"));
	for (const one of await Promise.allSettled(all)) expect(one).toMatchObject({ status: "rejected", reason: { message: "left" } });
	expect(endless.cancelled).toBeGreaterThan(0);
	const next = cached.single(call([item("txpool_content")]));
	inner.calls[1]?.answer(result({}));
	expect(textOf((await next).outcome)).toBe("{}");
});

test("a very big answer goes to the first who asked; the others ask for themselves", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const [first, second] = [cached.single(call([item("txpool_content")])), cached.single(call([item("txpool_content")]))];
	const pieces = Array.from({ length: 9 }, () => "1".repeat(1_048_576));
	inner.calls[0]?.answer(stream(pieces));
	expect(await read((await first).outcome)).toBe(pieces.join(""));
	inner.calls[1]?.answer(stream(["{}"]));
	expect(await read((await second).outcome)).toBe("{}");
});

test("a big answer is kept once all of it has passed, and then comes whole", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const first = cached.single(call([BALANCE()]));
	inner.calls[0]?.answer(stream(["[1", ",2]"]));
	const { outcome } = await first;
	expect(cached.stats().entries).toBe(0);
	expect(await read(outcome)).toBe("[1,2]");
	expect(textOf((await cached.single(call([BALANCE()]))).outcome)).toBe("[1,2]");
	expect(inner.calls).toHaveLength(1);
});

test("a big answer is not kept where it breaks off, is left, or is over the bound", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner, 80_000);
	const broken = cached.single(call([BALANCE()]));
	inner.calls[0]?.answer(stream(["[1", "broken"]));
	expect(read((await broken).outcome)).rejects.toThrow("broken off");
	const left = cached.single(call([BALANCE()]));
	const source = stream(["[1", ",2]"]);
	inner.calls[1]?.answer(source);
	const { outcome } = await left;
	if (!("cancel" in outcome)) throw new Error(outcome.kind);
	await outcome.value.cancel();
	expect(source.cancelled).toBe(1);
	const large = cached.single(call([BALANCE()]));
	inner.calls[2]?.answer(stream(["[1,", `${"1,".repeat(6_000)}1]`]));
	expect(await read((await large).outcome)).toHaveLength(12_005);
	expect(cached.stats()).toMatchObject({ entries: 0, bytes: 0 });
});

test("a big answer holds on to nothing of its caller once it has passed", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const caller = new AbortController();
	const first = cached.single(call([item("txpool_content")], caller.signal));
	inner.calls[0]?.answer(stream(["{}"]));
	await read((await first).outcome);
	caller.abort();
	expect(inner.calls[0]?.signal.aborted).toBe(false);
});

test("a big answer is stopped when its reader leaves, and when nobody is left to read it", async () => {
	const inner = new ScriptedUpstreams();
	const { cached } = made(inner);
	const [reader, waiter] = [new AbortController(), new AbortController()];
	const first = cached.single(call([item("txpool_content")], reader.signal));
	const source = stream(["{}"]);
	inner.calls[0]?.answer(source);
	await first;
	expect(source.cancelled).toBe(0);
	reader.abort();
	expect(source.cancelled).toBeGreaterThan(0);
	expect(inner.calls[0]?.signal.aborted).toBe(true);

	const abandoned = cached.single(call([item("txpool_content")], waiter.signal));
	const batch = cached.batch(call([item("txpool_content")]));
	const unread = stream(["{}"]);
	waiter.abort(new Error("left"));
	expect(abandoned).rejects.toThrow("left");
	inner.calls[1]?.answer(unread);
	while (inner.calls.length < 3) await Promise.resolve();
	inner.calls[2]?.answer(result({}));
	expect((await batch).outcome).toHaveLength(1);
	expect(unread.cancelled).toBeGreaterThan(0);
});
