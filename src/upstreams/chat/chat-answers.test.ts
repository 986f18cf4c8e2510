import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { PLAIN_SPEECH, TOOL_SPEECH } from "../../../test/support/chat-answers.ts";
import type { ForwardOptions } from "../../../test/support/chat-forward.ts";
import { countingClock } from "../../../test/support/counting-clock.ts";
import type { Behaviour } from "../../../test/support/scripted-upstream.ts";
import { until } from "../../../test/support/until.ts";
import {
	codeOf,
	upstreamConfig as config,
	contentOf,
	drain,
	KEY,
	TIMEOUTS,
	TWO,
	UpstreamPair,
} from "../../../test/support/upstream-pair.ts";
import type { ChatUpstreamsOptions } from "./chat-upstreams.ts";

const pair = new UpstreamPair();
const { main, spare } = pair;
const connect = (options: Partial<ChatUpstreamsOptions> = {}) => pair.connect(options);
const unary = (options: ForwardOptions = {}, upstreams = connect()) => pair.unary(options, upstreams);
const open = (options: ForwardOptions = {}, upstreams = connect()) => pair.open(options, upstreams);
afterEach(() => pair.reset());
afterAll(() => pair.stop());

describe("a whole answer", () => {
	test("comes with its bytes as sent, parsed, and with usage", async () => {
		const answer = await unary();
		expect(JSON.parse(new TextDecoder().decode(answer.bytes))).toEqual(answer.body);
		expect(answer).toMatchObject({ upstream: "main", retries: 0 });
		expect(answer.usage).toEqual({
			promptTokens: 9,
			completionTokens: 4,
			cachedTokens: 0,
			cacheWriteTokens: 0,
			reasoningTokens: 0,
			counted: false,
		});
	});

	test("is asked for with our request id, the upstream's key and name of the model, and in good form", async () => {
		const sent: string[] = [];
		await unary({ requestId: "a".repeat(32), onSent: (upstream) => sent.push(upstream) });
		const [request] = main.requests;
		expect(request?.complaints).toEqual([]);
		expect(request?.body.model).toBe("upstream/model:1");
		expect(request?.headers.get("x-request-id")).toBe("a".repeat(32));
		expect(request?.headers.get("authorization")).toBe(`Bearer ${KEY}`);
		expect(sent).toEqual(["main"]);
	});

	test("takes extra headers of the config, which may replace ours", async () => {
		const headers = { "X-Team": "blue", Authorization: "Custom abc" };
		await unary({}, connect({ upstreams: { main: config(main, { headers }) } }));
		expect(main.requests[0]?.headers.get("x-team")).toBe("blue");
		expect(main.requests[0]?.headers.get("authorization")).toBe("Custom abc");
	});

	test("without usage says so", async () => {
		main.next({ usage: "never" });
		expect((await unary()).usage).toBeNull();
	});

	test("packed by an upstream that was asked not to is unpacked", async () => {
		const text = JSON.stringify({ object: "chat.completion", choices: [{ message: {} }], usage: { prompt_tokens: 1 } });
		main.next({ raw: Bun.gzipSync(text), headers: { "content-encoding": "gzip" } });
		expect(new TextDecoder().decode((await unary()).bytes)).toBe(text);
	});

	test("over the bound is refused, declared or not, also where it was packed", async () => {
		const upstreams = connect({ maxAnswerBytes: 10_000 });
		const big = JSON.stringify({ object: "chat.completion", choices: [], pad: "x".repeat(20_000) });
		main.next({ raw: big }, { raw: Bun.gzipSync(big), headers: { "content-encoding": "gzip" } });
		expect(await codeOf(unary({}, upstreams))).toBe("INFERENCE_FAILED");
		expect(await codeOf(unary({}, upstreams))).toBe("INFERENCE_FAILED");
	});

	test("whose choices are in no form that is known is none", async () => {
		for (const choices of [
			[],
			{},
			"x",
			[null],
			[{}],
			[{ message: "x" }],
			[{ message: { content: 5 } }],
			[{ message: { content: { a: 1 } } }],
			[{ message: { content: [1] } }],
			[{ message: { content: null, tool_calls: {} } }],
			[{ message: { content: null, tool_calls: [null] } }],
		]) {
			main.next({ raw: JSON.stringify({ object: "chat.completion", choices, usage: { prompt_tokens: 1 } }) });
			expect(await codeOf(unary()), JSON.stringify(choices)).toBe("INFERENCE_FAILED");
		}
	});

	test("with more choices than were asked for is none", async () => {
		const choice = (index: number) => ({ index, message: { content: "a" }, finish_reason: "stop" });
		const raw = JSON.stringify({ object: "chat.completion", choices: [choice(0), choice(1)], usage: { prompt_tokens: 1 } });
		main.next({ raw }, { raw });
		expect(await codeOf(unary())).toBe("INFERENCE_FAILED");
		expect((await unary({ choices: 2 })).body.choices).toHaveLength(2);
	});

	test("may lack choices where it says what it is", async () => {
		main.next({ raw: '{"object":"chat.completion","model":"m"}' });
		expect((await unary()).body.model).toBe("m");
	});
});

describe("a stream", () => {
	test("brings every chunk's bytes as sent, then [DONE], then its end", async () => {
		const stream = open();
		await stream.headers;
		const { texts, done, error } = await drain(stream);
		expect(error).toBeNull();
		expect(done).toBe(true);
		expect(contentOf(texts.slice(0, -1))).toBe("Hello, world!");
		expect(stream).toMatchObject({ upstream: "main", retries: 0, usage: { promptTokens: 9, completionTokens: 4 } });
		expect(main.requests[0]?.complaints).toEqual([]);
		expect(main.requests[0]?.body.stream_options).toEqual({ include_usage: true });
	});

	test("is the same, byte for byte, whatever the framing and the borders of chunks", async () => {
		const behaviours: Behaviour[] = [];
		for (const speech of [
			PLAIN_SPEECH,
			TOOL_SPEECH,
			{ content: ["é", "😀\n"], reasoning: ["hm", ""], logprobs: true, choices: 2 },
		]) {
			for (const byteByByte of [false, true])
				for (const framing of ["lf", "crlf", "cr", "comments"] as const) behaviours.push({ speech, byteByByte, framing });
		}
		let expected: string[] = [];
		for (const behaviour of behaviours) {
			main.next(behaviour);
			const { texts, done, error } = await drain(open({ choices: 2 }));
			expect(error).toBeNull();
			expect(done).toBe(true);
			if (!behaviour.byteByByte && behaviour.framing === "lf") expected = texts;
			expect(texts).toEqual(expected);
		}
	});

	test("of more choices than were asked for is broken off, however they are numbered", async () => {
		const chunk = (index?: number) => `data: ${JSON.stringify({ choices: [{ index, delta: { content: "a" } }] })}\n\n`;
		const headers = { "content-type": "text/event-stream" };
		const end = 'data: {"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
		main.next({ raw: `${chunk(0)}${chunk(0)}${chunk(1)}${end}`, headers });
		const two = await drain(open());
		expect([two.texts.length, two.done]).toEqual([2, false]);
		expect(two.error).toMatchObject({ code: "INFERENCE_FAILED" });
		main.next({ raw: `${chunk(1)}${chunk(1)}${end}`, headers });
		expect(await drain(open())).toMatchObject({ done: true, error: null });
		main.next({ raw: `${chunk()}${chunk(1)}${end}`, headers });
		expect(await drain(open({ choices: 2 }))).toMatchObject({ done: true, error: null });
	});

	test("may have null between its chunks, and end with another spelling of [DONE]", async () => {
		const good = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n';
		for (const raw of [`data: null\n\n${good}data: null\n\ndata: [done]\n\n`, `${good}data: "[DONE]"\n\n`]) {
			main.next({ raw, headers: { "content-type": "text/event-stream" } });
			const { texts, done, error } = await drain(open());
			expect([texts.length, done, error]).toEqual([1, true, null]);
		}
	});

	test("hands out the first chunk before the upstream sends its second", async () => {
		const gate = Promise.withResolvers<void>();
		main.next({ beforeSecondChunk: gate.promise });
		const stream = open();
		const sizes: number[] = [];
		await stream.each((batch) => {
			sizes.push(batch.events.length);
			gate.resolve();
			return null;
		});
		expect(sizes[0]).toBe(1);
	});

	test("usage: twice the last wins, late and on every chunk it is found, never is null", async () => {
		for (const [usage, expected] of [
			["twice", { promptTokens: 9, completionTokens: 4 }],
			["late", { promptTokens: 9, completionTokens: 4 }],
			["every-chunk", { promptTokens: 9, completionTokens: 4 }],
			["never", null],
		] as const) {
			main.next({ usage });
			const stream = open();
			expect((await drain(stream)).error).toBeNull();
			if (expected) expect(stream.usage).toMatchObject(expected);
			else expect(stream.usage).toBeNull();
		}
	});

	test("without [DONE] has ended properly only after a finish_reason", async () => {
		main.next({ omitDone: true });
		expect(await drain(open())).toMatchObject({ done: true, error: null });
		main.next({ omitDone: true, usage: "never" });
		expect(await drain(open())).toMatchObject({ done: true, error: null });
		main.next({ endAfterChunks: 3 });
		expect((await drain(open())).error).toMatchObject({ code: "INFERENCE_FAILED" });
	});

	test("that breaks after its first event is an error, and no other upstream takes over", async () => {
		for (const behaviour of [
			{ dieAfterChunks: 2 },
			{ brokenChunkAt: 2 },
			{ errorEventAt: 2 },
			{ errorEventAt: 2, errorEvent: { object: "error", message: "x", code: 500 } },
			{ raw: 'data: {"choices":[]}\n\ndata: [1]\n\n', headers: { "content-type": "text/event-stream" } },
		]) {
			main.next(behaviour);
			const { texts, error } = await drain(open({ model: TWO }));
			expect(texts.length).toBeGreaterThan(0);
			expect(error).toMatchObject({ code: "INFERENCE_FAILED" });
		}
		expect(spare.requests).toEqual([]);
	});

	test("delivers the good events that came in one read with an error, before the error", async () => {
		const good = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
		main.next({
			raw: `${good}${good}data: {"error":{"message":"boom"}}\n\ndata: [DONE]\n\n`,
			headers: { "content-type": "text/event-stream" },
		});
		const { texts, done, error } = await drain(open());
		expect(texts).toHaveLength(2);
		expect(done).toBe(false);
		expect(error).toMatchObject({ code: "INFERENCE_FAILED" });
	});

	test("that falls silent is REQUEST_TIMEOUT; comments are no silence", async () => {
		const upstreams = connect({ timeouts: { ...TIMEOUTS, chatIdleMs: 80 } });
		main.next({ hang: "after-first-chunk" });
		expect((await drain(open({}, upstreams))).error).toMatchObject({ code: "REQUEST_TIMEOUT" });
		await until(() => main.open === 0, "the upstream was let go");
		main.next({ hang: "after-headers" });
		expect((await drain(open({}, upstreams))).error).toMatchObject({ code: "REQUEST_TIMEOUT" });
	});

	test("is not blamed for silence while nobody reads it", async () => {
		const stream = open({}, connect({ timeouts: { ...TIMEOUTS, chatIdleMs: 2_000 } }));
		await stream.opened;
		await Bun.sleep(2_500);
		await stream.each(() => null);
	});

	test("with an event over the bound is broken", async () => {
		main.next({ raw: `data: "${"x".repeat(5_000)}"\n\n`, headers: { "content-type": "text/event-stream" } });
		expect((await drain(open({}, connect({ maxEventBytes: 1_000 })))).error).toMatchObject({ code: "INFERENCE_FAILED" });
	});
});

test("connections are used again: after whole answers, streams that ended, and refusals", async () => {
	const ports = new Set<number>();
	let answer: (streamed: boolean) => Response = () => new Response();
	const server = Bun.serve({
		port: 0,
		async fetch(request, self) {
			ports.add(self.requestIP(request)?.port ?? 0);
			return answer((await request.text()).includes('"stream":true'));
		},
	});
	const clock = countingClock();
	const upstreams = connect({
		clock,
		upstreams: {
			main: config({ url: `http://127.0.0.1:${server.port}/v1` }, { health: { failures: 99, probeEveryMs: 60_000 } }),
		},
	});
	const chunk = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
	const slowEnd = () =>
		new ReadableStream({
			async start(controller) {
				controller.enqueue(new TextEncoder().encode(`${chunk}data: [DONE]\n\n`));
				await Bun.sleep(5);
				controller.close();
			},
		});
	answer = (streamed) =>
		streamed
			? new Response(slowEnd(), { headers: { "content-type": "text/event-stream" } })
			: Response.json({ object: "chat.completion", choices: [{ message: {} }] });
	for (let i = 0; i < 5; i++) {
		await unary({}, upstreams);
		const stream = open({}, upstreams);
		expect((await drain(stream)).done).toBe(true);
		stream.cancel();
		// The rest of the body is read, and its connection is free.
		await until(() => clock.pending === 0);
	}
	answer = () => Response.json({ error: { message: "no" } }, { status: 400 });
	for (let i = 0; i < 5; i++) await codeOf(unary({}, upstreams));
	await server.stop(true);
	expect(ports.size).toBeLessThanOrEqual(2);
});
