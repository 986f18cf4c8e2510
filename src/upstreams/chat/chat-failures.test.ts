import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { type ForwardOptions, textModel } from "../../../test/support/chat-forward.ts";
import type { Behaviour } from "../../../test/support/scripted-upstream.ts";
import { until } from "../../../test/support/until.ts";
import {
	codeOf,
	upstreamConfig as config,
	contentOf,
	drain,
	KEY,
	ONE,
	TIMEOUTS,
	TWO,
	UpstreamPair,
} from "../../../test/support/upstream-pair.ts";
import type { ApiError, ErrorCode } from "../../errors/index.ts";
import { type Log, silentLog } from "../../telemetry/log.ts";
import type { ChatUpstreamsOptions } from "./chat-upstreams.ts";

const pair = new UpstreamPair();
const { main, spare } = pair;
const connect = (options: Partial<ChatUpstreamsOptions> = {}) => pair.connect(options);
const unary = (options: ForwardOptions = {}, upstreams = connect()) => pair.unary(options, upstreams);
const open = (options: ForwardOptions = {}, upstreams = connect()) => pair.open(options, upstreams);
afterEach(() => pair.reset());
afterAll(() => pair.stop());

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
		["JSON that is no answer", { raw: json({ object: "list", data: [] }) }, "INFERENCE_FAILED", true],
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
		const upstreams = connect({ timeouts: { ...TIMEOUTS, chatFirstByteMs: 2_000 } });
		const stream = open({ model: TWO }, upstreams);
		expect((await drain(stream)).error).toBeNull();
		expect(stream.retries).toBe(1);
		spare.always({ hang: true });
		const limited = connect({ timeouts: { ...TIMEOUTS, chatFirstByteMs: 60_000, chatStreamTriesMs: 80 } });
		expect((await drain(open({ model: TWO }, limited))).error).toMatchObject({ code: "REQUEST_TIMEOUT" });
		await until(() => main.open + spare.open === 0, "both were let go");
	});

	test("an upstream that thinks before its first byte is waited for", async () => {
		main.always({ thinkMs: 150 });
		expect((await drain(open())).error).toBeNull();
		expect((await unary()).upstream).toBe("main");
	});
});
