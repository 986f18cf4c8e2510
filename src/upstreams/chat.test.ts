import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { PLAIN_SPEECH, TOOL_SPEECH } from "../../test/support/chat-answers.ts";
import { chatForward, type ForwardOptions, HELLO, textModel } from "../../test/support/chat-forward.ts";
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from "../../test/support/scripted-upstream.ts";
import type { UpstreamConfig } from "../config/schema.ts";
import { ApiError, type ErrorCode } from "../errors/index.ts";
import { type Log, silentLog } from "../telemetry/log.ts";
import { type ChatUpstreamsOptions, createChatUpstreams, type RunningChatUpstreams } from "./chat.ts";

const TIMEOUTS = { chatFirstByteMs: 5_000, chatIdleMs: 5_000, chatUnaryMs: 5_000, chatStreamTriesMs: 8_000 };
const KEY = "upstream-secret-key";

let main: ScriptedUpstream;
let spare: ScriptedUpstream;
const running: RunningChatUpstreams[] = [];

beforeAll(() => {
	main = startScriptedUpstream();
	spare = startScriptedUpstream();
});
afterEach(() => {
	for (const upstreams of running.splice(0)) upstreams.close();
	for (const server of [main, spare]) {
		server.requests.length = 0;
		server.always({});
	}
});
afterAll(() => Promise.all([main.stop(), spare.stop()]));

const config = (server: { readonly url: string }, overrides: Partial<UpstreamConfig> = {}): UpstreamConfig => ({
	url: server.url,
	key: KEY,
	dialect: "generic",
	discover: true,
	health: { failures: 3, probeEveryMs: 60_000 },
	...overrides,
});

function connect(options: Partial<ChatUpstreamsOptions> = {}): RunningChatUpstreams {
	const upstreams = createChatUpstreams({
		upstreams: { main: config(main), spare: config(spare) },
		timeouts: TIMEOUTS,
		log: silentLog,
		...options,
	});
	running.push(upstreams);
	return upstreams;
}

const ONE = textModel([{}]);
const TWO = textModel([{}, { upstream: "spare", order: 1, model: "other-name" }]);
const unary = (options: ForwardOptions = {}, upstreams = connect()) => upstreams.unary(chatForward(HELLO, options));
const open = (options: ForwardOptions = {}, upstreams = connect()) =>
	upstreams.stream(chatForward({ ...HELLO, stream: true }, options));

interface Drained {
	readonly texts: string[];
	readonly done: boolean;
	readonly error: unknown;
}
async function drain(stream: ReturnType<typeof open>): Promise<Drained> {
	const texts: string[] = [];
	let done = false;
	try {
		for (;;) {
			const batch = await stream.next();
			if (batch === null) return { texts, done, error: null };
			texts.push(...batch.events.map((event) => new TextDecoder().decode(event.bytes)));
			done ||= batch.done;
		}
	} catch (error) {
		return { texts, done, error };
	}
}
const contentOf = (texts: readonly string[]) => texts.map((text) => JSON.parse(text).choices[0]?.delta.content ?? "").join("");

async function codeOf(promise: Promise<unknown>): Promise<ErrorCode | string> {
	try {
		await promise;
		return "no error";
	} catch (error) {
		return error instanceof ApiError ? error.code : `not an ApiError: ${String(error)}`;
	}
}
const until = async (condition: () => boolean, what: string): Promise<void> => {
	for (let i = 0; i < 2_000 && !condition(); i++) await Bun.sleep(2);
	expect(condition(), what).toBe(true);
};

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
		const text = JSON.stringify({ object: "chat.completion", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
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

	test("may lack choices where it says what it is", async () => {
		main.next({ raw: '{"object":"chat.completion","model":"m"}' });
		expect((await unary()).body.model).toBe("m");
	});
});

/** The failure table: behaviour, code for the caller, whether a next upstream is asked. */
const HTML = { raw: "<html><body>502 Bad Gateway</body></html>", headers: { "content-type": "text/html" } };
const json = (body: object) => JSON.stringify(body);
const TABLE: readonly [name: string, behaviour: Behaviour, code: ErrorCode, next: boolean][] = [
	["400", { status: 400, raw: json({ error: { message: "bad top_k", param: "top_k" } }) }, "INVALID_REQUEST", false],
	["413", { status: 413 }, "INVALID_REQUEST", false],
	["422", { status: 422, raw: json({ detail: [{ msg: "field required" }] }) }, "INVALID_REQUEST", false],
	[
		"a context that is too small",
		{ status: 400, raw: json({ error: { message: "maximum context length is 10 tokens" } }) },
		"TOO_MANY_TOKENS",
		false,
	],
	["401", { status: 401 }, "MODEL_OFFLINE", true],
	["402", { status: 402 }, "MODEL_OFFLINE", true],
	["403", { status: 403 }, "MODEL_OFFLINE", true],
	[
		"a spent quota",
		{ status: 429, raw: json({ error: { message: "quota", code: "insufficient_quota" } }) },
		"MODEL_OFFLINE",
		true,
	],
	["404", { status: 404 }, "MODEL_OFFLINE", true],
	["429", { status: 429, headers: { "retry-after": "17" } }, "MODEL_OVERLOADED", true],
	["500", { status: 500 }, "INFERENCE_FAILED", true],
	["503", { status: 503 }, "INFERENCE_FAILED", true],
	["500 with HTML", { status: 500, ...HTML }, "INFERENCE_FAILED", true],
	["200 with HTML", HTML, "INFERENCE_FAILED", true],
	["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/" }, raw: "" }, "INFERENCE_FAILED", true],
	["an error inside a 200", { raw: json({ error: { message: "out of memory" } }) }, "INFERENCE_FAILED", true],
];

describe("the failure table, whole answers:", () => {
	const onlyWhole: typeof TABLE = [
		["bad JSON", { raw: '{"object":"chat.completion","choices":[' }, "INFERENCE_FAILED", true],
		["JSON that is no completion", { raw: '{"hello":1}' }, "INFERENCE_FAILED", true],
		["a JSON array", { raw: "[]" }, "INFERENCE_FAILED", true],
		["no body", { raw: "" }, "INFERENCE_FAILED", true],
		["invalid UTF-8", { raw: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d) }, "INFERENCE_FAILED", true],
		["a body that is cut", { dieAfterChunks: 1 }, "INFERENCE_FAILED", true],
	];
	for (const [name, behaviour, code, next] of [...TABLE, ...onlyWhole]) {
		test(`${name} is ${code}, ${next ? "after the next upstream" : "at once"}`, async () => {
			main.always(behaviour);
			expect(await codeOf(unary({ model: ONE }))).toBe(code);
			const second = await unary({ model: TWO }).catch((error: unknown) => error);
			if (next) expect(second).toMatchObject({ upstream: "spare", retries: 1 });
			else expect(second).toMatchObject({ code });
			expect(spare.requests.length).toBe(Number(next));
			if (next) expect(spare.requests[0]?.body.model).toBe("other-name");
		});
	}

	test("messages and fields of a refused request reach the caller; Retry-After does", async () => {
		main.next(
			{ status: 400, raw: json({ error: { message: "bad top_k", param: "top_k" } }) },
			{ status: 429, headers: { "retry-after": "17" } },
		);
		expect(await unary().catch((error: unknown) => error)).toMatchObject({ message: "bad top_k", options: { param: "top_k" } });
		expect(await unary().catch((error: unknown) => error)).toMatchObject({ options: { retryAfterSeconds: 17 } });
	});

	test("account errors are told to the operator and not to the caller; our key is told to nobody", async () => {
		const errors: object[] = [];
		const log: Log = { ...silentLog, error: (fields) => void errors.push(fields) };
		main.always({ status: 401, raw: json({ error: { message: `Incorrect API key provided: ${KEY}` } }) });
		const failure = await unary({}, connect({ log })).catch((error: unknown) => error);
		expect(failure).toMatchObject({ code: "MODEL_OFFLINE", status: 503 });
		expect((failure as ApiError).message).not.toMatch(/key/i);
		expect(errors).toMatchObject([{ upstream: "main", kind: "account" }]);
		expect(json(errors)).not.toContain(KEY);
		main.always({ status: 400, raw: json({ error: { message: `no use of ${KEY} here` } }) });
		expect(((await unary().catch((error: unknown) => error)) as ApiError).message).toBe("no use of [key] here");
	});

	test("refused is MODEL_OFFLINE; a socket that dies is INFERENCE_FAILED; both after the next upstream", async () => {
		const gone = { url: "http://127.0.0.1:1/v1" };
		const dying = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: (socket) => void socket.terminate() } });
		for (const [server, code] of [
			[gone, "MODEL_OFFLINE"],
			[{ url: `http://127.0.0.1:${dying.port}/v1` }, "INFERENCE_FAILED"],
		] as const) {
			const upstreams = connect({ upstreams: { main: config(server), spare: config(spare) } });
			expect(await codeOf(unary({ model: ONE }, upstreams))).toBe(code);
			expect(await unary({ model: TWO }, upstreams)).toMatchObject({ upstream: "spare" });
		}
		dying.stop(true);
	});

	test("a time-out is REQUEST_TIMEOUT, over all tries; one upstream's own limit lets the next try", async () => {
		main.always({ hang: true });
		expect(await codeOf(unary({ model: ONE }, connect({ timeouts: { ...TIMEOUTS, chatUnaryMs: 60 } })))).toBe("REQUEST_TIMEOUT");
		const limited = connect({ upstreams: { main: config(main, { unaryMs: 60 }), spare: config(spare) } });
		expect(await unary({ model: TWO }, limited)).toMatchObject({ upstream: "spare", retries: 1 });
		await until(() => main.open === 0, "the upstream was let go");
	});

	test("429 from every upstream is MODEL_OVERLOADED, also where another is offline", async () => {
		main.always({ status: 429, headers: { "retry-after": "3" } });
		spare.always({ status: 401 });
		expect(await codeOf(unary({ model: TWO }))).toBe("MODEL_OVERLOADED");
	});

	test("a model whose upstreams the config lacks is MODEL_OFFLINE", async () => {
		expect(await codeOf(unary({ model: textModel([{ upstream: "nowhere" }]) }))).toBe("MODEL_OFFLINE");
		expect(await codeOf(unary({ model: textModel([]) }))).toBe("MODEL_OFFLINE");
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
		expect(await stream.next()).toBeNull();
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
			const { texts, done, error } = await drain(open());
			expect(error).toBeNull();
			expect(done).toBe(true);
			if (!behaviour.byteByByte && behaviour.framing === "lf") expected = texts;
			expect(texts).toEqual(expected);
		}
	});

	test("hands out the first chunk before the upstream sends its second", async () => {
		const gate = Promise.withResolvers<void>();
		main.next({ beforeSecondChunk: gate.promise });
		const stream = open();
		const first = await stream.next();
		expect(first?.events.length).toBe(1);
		gate.resolve();
		expect((await drain(stream)).done).toBe(true);
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

	test("without [DONE] has ended properly only after finish_reason and usage", async () => {
		main.next({ omitDone: true });
		expect(await drain(open())).toMatchObject({ done: false, error: null });
		main.next({ omitDone: true, usage: "never" });
		expect((await drain(open())).error).toMatchObject({ code: "INFERENCE_FAILED" });
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
		const stream = open();
		expect(await stream.next()).toMatchObject({ done: false, events: { length: 2 } });
		expect(await codeOf(stream.next())).toBe("INFERENCE_FAILED");
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
		const stream = open({}, connect({ timeouts: { ...TIMEOUTS, chatIdleMs: 40 } }));
		await stream.next();
		await Bun.sleep(120);
		expect((await drain(stream)).error).toBeNull();
	});

	test("with an event over the bound is broken", async () => {
		main.next({ raw: `data: "${"x".repeat(5_000)}"\n\n`, headers: { "content-type": "text/event-stream" } });
		expect((await drain(open({}, connect({ maxEventBytes: 1_000 })))).error).toMatchObject({ code: "INFERENCE_FAILED" });
	});
});

describe("the failure table, streams before the first event:", () => {
	const EVENTS = { headers: { "content-type": "text/event-stream" } };
	const onlyStreams: typeof TABLE = [
		["an error event first", { errorEventAt: 0 }, "INFERENCE_FAILED", true],
		["a refusal as an event", { errorEventAt: 0, errorEvent: { error: { message: "no", code: 400 } } }, "INVALID_REQUEST", false],
		[
			"an overflow as an event",
			{ errorEventAt: 0, errorEvent: { error: { message: "maximum context length is 5", code: 400 } } },
			"TOO_MANY_TOKENS",
			false,
		],
		[
			"an account error as an event",
			{ errorEventAt: 0, errorEvent: { error: { message: "x", code: 402 } } },
			"MODEL_OFFLINE",
			true,
		],
		["a broken chunk first", { brokenChunkAt: 0 }, "INFERENCE_FAILED", true],
		["death before a chunk", { dieAfterChunks: 0 }, "INFERENCE_FAILED", true],
		["an empty stream", { raw: "", ...EVENTS }, "INFERENCE_FAILED", true],
		["[DONE] and nothing else", { raw: "data: [DONE]\n\n", ...EVENTS }, "INFERENCE_FAILED", true],
		["comments and nothing else", { raw: ": hello\n\n", ...EVENTS }, "INFERENCE_FAILED", true],
		["a whole JSON answer", { raw: json({ object: "chat.completion", choices: [] }) }, "INFERENCE_FAILED", true],
	];
	for (const [name, behaviour, code, next] of [...TABLE, ...onlyStreams]) {
		test(`${name} is ${code}, ${next ? "after the next upstream" : "at once"}`, async () => {
			main.always(behaviour);
			const alone = open({ model: ONE });
			expect((await drain(alone)).error).toMatchObject({ code });
			const second = open({ model: TWO });
			const { texts, error } = await drain(second);
			if (!next) {
				expect(error).toMatchObject({ code });
				expect(spare.requests).toEqual([]);
				return;
			}
			expect(error).toBeNull();
			expect(contentOf(texts.slice(0, -1))).toBe("Hello, world!");
			expect(second).toMatchObject({ upstream: "spare", retries: 1 });
		});
	}

	test("headers of the good upstream resolve `headers`; where all fail it rejects as `next` does", async () => {
		main.always({ status: 500 });
		await open({ model: TWO }).headers;
		expect(await codeOf(open({ model: ONE }).headers)).toBe("INFERENCE_FAILED");
	});

	test("no first byte in time lets the next try; all tries together have a limit of their own", async () => {
		main.always({ hang: true });
		const upstreams = connect({ timeouts: { ...TIMEOUTS, chatFirstByteMs: 60 } });
		const stream = open({ model: TWO }, upstreams);
		expect((await drain(stream)).error).toBeNull();
		expect(stream.retries).toBe(1);
		spare.always({ hang: true });
		const limited = connect({ timeouts: { ...TIMEOUTS, chatFirstByteMs: 5_000, chatStreamTriesMs: 80 } });
		expect((await drain(open({ model: TWO }, limited))).error).toMatchObject({ code: "REQUEST_TIMEOUT" });
		await until(() => main.open + spare.open === 0, "both were let go");
	});

	test("an upstream that thinks before its first byte is waited for", async () => {
		main.always({ thinkMs: 150 });
		expect((await drain(open())).error).toBeNull();
		expect((await unary()).upstream).toBe("main");
	});
});

describe("a caller that leaves", () => {
	test("stops the upstream at once: unary, before headers, before and after the first event", async () => {
		for (const [behaviour, streamed] of [
			[{ hang: true }, false],
			[{ hang: true }, true],
			[{ hang: "after-headers" }, true],
			[{ hang: "after-first-chunk" }, true],
		] as const) {
			main.requests.length = 0;
			main.next(behaviour);
			const caller = new AbortController();
			const call = { signal: caller.signal, model: TWO };
			const ended = streamed ? drain(open(call)).then((drained) => drained.error) : unary(call).catch((error: unknown) => error);
			await until(() => main.requests.length === 1, "the request came");
			caller.abort(new Error("left"));
			expect(await ended).toMatchObject({ message: "left" });
			await until(() => main.requests[0]?.isAborted === true, "the upstream saw it");
		}
		expect(spare.requests).toEqual([]);
		expect(main.open).toBe(0);
	});

	test("is no fault of the upstream", async () => {
		const upstreams = connect();
		for (let i = 0; i < 5; i++) {
			main.next({ hang: true });
			const caller = new AbortController();
			const ended = unary({ signal: caller.signal }, upstreams).catch(() => {});
			await until(() => main.open === 1, "it runs");
			caller.abort();
			await ended;
		}
		expect(upstreams.snapshot()[0]).toMatchObject({ state: "up", consecutiveFaults: 0, running: 0 });
	});

	test("before anything was sent sends nothing", async () => {
		const sent: string[] = [];
		await unary({ signal: AbortSignal.abort(new Error("left")), onSent: (name) => sent.push(name) }).catch(() => {});
		expect([main.requests.length, sent.length]).toEqual([0, 0]);
	});

	test("frees the place also where nobody reads or cancels the stream any more", async () => {
		for (const leave of ["abort", "cancel"] as const) {
			for (const turns of [0, 1, 2, 3, 5, 8, 20, 60]) {
				const upstreams = connect();
				main.next({ hang: "after-first-chunk" });
				const caller = new AbortController();
				const stream = open({ signal: caller.signal }, upstreams);
				await until(() => main.requests.length > 0, "the request came");
				for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
				if (leave === "abort") caller.abort(new Error("left"));
				else stream.cancel();
				await until(() => upstreams.snapshot()[0]?.running === 0, `place freed after ${turns} turns`);
				main.requests.length = 0;
			}
		}
		await until(() => main.open === 0, "the upstream was let go");
	});

	test("cancel does the same, also twice, and the read under way ends", async () => {
		main.next({ hang: "after-first-chunk" });
		const stream = open();
		await stream.next();
		const read = stream.next().catch((error: unknown) => error);
		stream.cancel();
		stream.cancel();
		expect(await read).toBeInstanceOf(ApiError);
		await until(() => main.requests[0]?.isAborted === true, "the upstream saw it");
	});
});

describe("upstreams that fail again and again", () => {
	test("are left out, probed in the background, and come back", async () => {
		const health = { failures: 2, probeEveryMs: 20 };
		const upstreams = connect({ upstreams: { main: config(main, { health }), spare: config(spare) } });
		main.models([], 500);
		main.always({ status: 500 });
		for (let i = 0; i < 3; i++) expect(await unary({ model: TWO }, upstreams)).toMatchObject({ upstream: "spare" });
		expect(main.requests.length).toBe(2);
		expect(upstreams.snapshot()[0]).toMatchObject({ name: "main", state: "out" });
		main.always({});
		main.models(["m"]);
		await until(() => upstreams.snapshot()[0]?.state === "trial", "a probe was good");
		expect(await unary({ model: TWO }, upstreams)).toMatchObject({ upstream: "main" });
		expect(upstreams.snapshot()[0]?.state).toBe("up");
	});

	test("are used all the same where there is no other", async () => {
		const upstreams = connect();
		main.always({ status: 500 });
		for (let i = 0; i < 5; i++) expect(await codeOf(unary({ model: ONE }, upstreams))).toBe("INFERENCE_FAILED");
		main.always({});
		expect(await unary({ model: ONE }, upstreams)).toMatchObject({ upstream: "main" });
	});
});

describe("bounds of one upstream", () => {
	test("send the overflow to the next, and answer MODEL_AT_CAPACITY where there is none", async () => {
		const upstreams = connect({ upstreams: { main: config(main, { maxConcurrent: 1 }), spare: config(spare) } });
		main.next({ hang: "after-first-chunk" });
		const held = open({ model: TWO }, upstreams);
		await held.next();
		expect(await unary({ model: TWO }, upstreams)).toMatchObject({ upstream: "spare", retries: 0 });
		expect(await codeOf(unary({ model: ONE }, upstreams))).toBe("MODEL_AT_CAPACITY");
		held.cancel();
		expect(await unary({ model: ONE }, upstreams)).toMatchObject({ upstream: "main" });
	});
});

describe("new settings", () => {
	test("bind new calls; a stream under way runs to its end", async () => {
		const gate = Promise.withResolvers<void>();
		const upstreams = connect();
		main.next({ beforeSecondChunk: gate.promise });
		const stream = open({ model: ONE }, upstreams);
		await stream.next();
		upstreams.reload({ main: config(spare, { key: "new-key" }) });
		expect((await unary({ model: ONE }, upstreams)).upstream).toBe("main");
		expect(spare.requests[0]?.headers.get("authorization")).toBe("Bearer new-key");
		gate.resolve();
		expect((await drain(stream)).error).toBeNull();
	});
});

describe("the same prompt_cache_key", () => {
	test("goes to the same upstream among equals", async () => {
		const upstreams = connect();
		const model = textModel([{}, { upstream: "spare" }]);
		for (let key = 0; key < 5; key++) {
			const names = new Set<string>();
			for (let i = 0; i < 4; i++)
				names.add((await upstreams.unary(chatForward({ ...HELLO, prompt_cache_key: `k${key}` }, { model }))).upstream);
			expect(names.size).toBe(1);
		}
	});
});

describe("the embedded engine", () => {
	const embedded = textModel([{ upstream: "embedded", model: "small" }]);

	test("is reached at the address that it gives at each call", async () => {
		const upstreams = connect({ upstreams: {}, embedded: { endpoint: async () => ({ url: main.url, key: "local" }) } });
		expect(await unary({ model: embedded }, upstreams)).toMatchObject({ upstream: "embedded" });
		expect(main.requests[0]?.headers.get("authorization")).toBe("Bearer local");
	});

	test("answers with its own errors: from its start, and from its answers", async () => {
		const loading = new ApiError("MODEL_OFFLINE", { message: "the model is being fetched: 40 %" });
		const offline = connect({ embedded: { endpoint: () => Promise.reject(loading) } });
		expect(await unary({ model: embedded }, offline).catch((error: unknown) => error)).toBe(loading);
		const upstreams = connect({ embedded: { endpoint: async () => ({ url: main.url, key: "local" }) } });
		main.next({
			status: 429,
			raw: json({ error: { message: "queue is full", code: "MODEL_OVERLOADED" } }),
			headers: { "retry-after": "2" },
		});
		expect(await unary({ model: embedded }, upstreams).catch((error: unknown) => error)).toMatchObject({
			code: "MODEL_OVERLOADED",
			message: "queue is full",
			options: { retryAfterSeconds: 2 },
		});
	});

	test("that does not start in time is a time-out, and one that never will is let go when the caller leaves", async () => {
		const never = { endpoint: () => new Promise<never>(() => {}) };
		expect(
			await codeOf(unary({ model: embedded }, connect({ embedded: never, timeouts: { ...TIMEOUTS, chatUnaryMs: 40 } }))),
		).toBe("REQUEST_TIMEOUT");
		const caller = new AbortController();
		const ended = unary({ model: embedded, signal: caller.signal }, connect({ embedded: never })).catch(
			(error: unknown) => error,
		);
		caller.abort(new Error("left"));
		expect(await ended).toMatchObject({ message: "left" });
	});
});
