/**
 * An upstream that is configured as OpenAI-compatible, and answers in the native form of Gemini, Anthropic or Cloudflare
 * Workers AI: its answers are converted and charged as usual, and its errors reach the caller.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type ChatCompletion, deltaText, eventsOf, HELLO } from "../support/chat-bodies.ts";
import { type PricedGateway, startPricedGateway } from "../support/priced-gateway.ts";
import { chargedFor, type RunningGateway } from "../support/running-gateway.ts";
import type { ScriptedUpstream } from "../support/scripted-upstream.ts";

let fixture: PricedGateway;
let upstream: ScriptedUpstream;
let gate: RunningGateway;
beforeAll(async () => {
	fixture = await startPricedGateway();
	({ upstream, gate } = fixture);
});
beforeEach(() => upstream.reset());
afterAll(() => fixture.stop());

const EVENTS = "text/event-stream";
const JSON_TYPE = "application/json";

const sse = (pieces: readonly object[], done = false) =>
	pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join("") + (done ? "data: [DONE]\n\n" : "");
const named = (pieces: readonly { type: string }[]) =>
	pieces.map((piece) => `event: ${piece.type}\ndata: ${JSON.stringify(piece)}\n\n`).join("");

/** What each form says: a thought (where the form has thoughts), "Hello, world!", 9 tokens in, 4 out. */
interface Sample {
	readonly whole: object;
	readonly text: readonly object[];
	/** Two calls of the same function, whole and streamed. */
	readonly wholeCalls: object;
	readonly calls: readonly object[];
	readonly cut: object;
	/** The text of a stream of pieces. */
	readonly stream: (pieces: readonly object[]) => string;
	readonly thought: string;
}

const geminiPart = (parts: readonly object[], rest: object = {}, more: object = {}) => ({
	candidates: [{ content: { parts, role: "model" }, ...rest }],
	usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
	modelVersion: "gemini-2.5-flash",
	responseId: "c0FKZ8nQD5",
	...more,
});
const GEMINI_USAGE = {
	usageMetadata: {
		promptTokenCount: 9,
		candidatesTokenCount: 3,
		thoughtsTokenCount: 1,
		totalTokenCount: 13,
		promptTokensDetails: [{ modality: "TEXT", tokenCount: 9 }],
	},
};
const THOUGHT = { text: "hm", thought: true };
const GEMINI_CALL = { functionCall: { name: "lookup", args: { city: "Toronto" } }, thoughtSignature: "CiQB0e2Kb" };
const GEMINI: Sample = {
	whole: geminiPart([THOUGHT, { text: "Hello, " }, { text: "world!" }], { finishReason: "STOP", index: 0 }, GEMINI_USAGE),
	text: [
		geminiPart([THOUGHT]),
		geminiPart([{ text: "Hello," }]),
		geminiPart([{ text: " world!" }], { finishReason: "STOP" }, GEMINI_USAGE),
	],
	wholeCalls: geminiPart([GEMINI_CALL, GEMINI_CALL], { finishReason: "STOP" }, GEMINI_USAGE),
	calls: [
		geminiPart([GEMINI_CALL]),
		geminiPart([GEMINI_CALL]),
		geminiPart([{ text: "" }], { finishReason: "STOP" }, GEMINI_USAGE),
	],
	cut: geminiPart([{ text: "Hello" }], { finishReason: "MAX_TOKENS" }, GEMINI_USAGE),
	stream: sse,
	thought: "hm",
};

const anthropic = (content: readonly object[], stop_reason: string) => ({
	id: "msg_01XFDUDYJgAACzvnptvVoYEL",
	type: "message",
	role: "assistant",
	model: "claude-opus-4",
	content,
	stop_reason,
	stop_sequence: null,
	usage: {
		input_tokens: 4,
		cache_creation_input_tokens: 0,
		cache_read_input_tokens: 5,
		output_tokens: 4,
		service_tier: "standard",
	},
});
const ANTHROPIC_CALL = { type: "tool_use", id: "toolu_", name: "lookup", input: { city: "Toronto" } };
const block = (index: number, content_block: object, deltas: readonly object[]) => [
	{ type: "content_block_start", index, content_block },
	...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
	{ type: "content_block_stop", index },
];
const anthropicEvents = (blocks: readonly { type: string }[], stop_reason: string) => {
	const message = { ...anthropic([], ""), stop_reason: null };
	const usage = { ...message.usage, output_tokens: 1 };
	return [
		{ type: "message_start", message: { ...message, usage } },
		{ type: "ping" },
		...blocks,
		{ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 4 } },
		{ type: "message_stop" },
	];
};
const anthropicCall = (index: number) =>
	block(index, { ...ANTHROPIC_CALL, id: `toolu_${index}`, input: {} }, [
		{ type: "input_json_delta", partial_json: "" },
		{ type: "input_json_delta", partial_json: '{"city":' },
		{ type: "input_json_delta", partial_json: '"Toronto"}' },
	]);
const ANTHROPIC: Sample = {
	whole: anthropic(
		[
			{ type: "thinking", thinking: "hm", signature: "EqQB" },
			{ type: "text", text: "Hello, world!" },
		],
		"end_turn",
	),
	text: anthropicEvents(
		[
			...block(0, { type: "thinking", thinking: "", signature: "" }, [
				{ type: "thinking_delta", thinking: "hm" },
				{ type: "signature_delta", signature: "EqQB" },
			]),
			...block(1, { type: "text", text: "" }, [
				{ type: "text_delta", text: "Hello," },
				{ type: "text_delta", text: " world!" },
			]),
		],
		"end_turn",
	),
	wholeCalls: anthropic(
		[
			{ ...ANTHROPIC_CALL, id: "toolu_1" },
			{ ...ANTHROPIC_CALL, id: "toolu_2" },
		],
		"tool_use",
	),
	calls: anthropicEvents([...anthropicCall(0), ...anthropicCall(1)], "tool_use"),
	cut: anthropic([{ type: "text", text: "Hello" }], "max_tokens"),
	stream: (pieces) => named(pieces as { type: string }[]),
	thought: "hm",
};

const WORKERS_USAGE = { usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } };
const envelope = (result: object) => ({ result, success: true, errors: [], messages: [] });
const WORKERS_CALL = { name: "lookup", arguments: { city: "Toronto" } };
const WORKERS_AI: Sample = {
	whole: envelope({ response: "Hello, world!", tool_calls: [], ...WORKERS_USAGE }),
	text: [
		{ response: "Hello,", p: "abdefghijklmnop" },
		{ response: " world!", p: "ab" },
		{ response: "", ...WORKERS_USAGE },
	],
	wholeCalls: envelope({ response: null, tool_calls: [WORKERS_CALL, WORKERS_CALL], ...WORKERS_USAGE }),
	calls: [
		{ response: "", tool_calls: [WORKERS_CALL], p: "ab" },
		{ response: "", tool_calls: [WORKERS_CALL] },
		{ response: "", ...WORKERS_USAGE },
	],
	cut: envelope({
		choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "length" }],
		...WORKERS_USAGE,
	}),
	stream: (pieces) => sse(pieces, true),
	thought: "",
};

const SAMPLES: [string, Sample][] = [
	["Gemini", GEMINI],
	["Anthropic", ANTHROPIC],
	["Workers AI", WORKERS_AI],
];

/** Checks a completion or a stream of "Hello, world!". */
async function checkHello(answer: Response, stream: boolean, thought: string): Promise<void> {
	expect(answer.status).toBe(200);
	if (!stream) {
		const body = (await answer.json()) as ChatCompletion;
		expect(body).toMatchObject({ object: "chat.completion", usage: { prompt_tokens: 9, completion_tokens: 4 } });
		const message = { role: "assistant", content: "Hello, world!", ...(thought === "" ? {} : { reasoning_content: thought }) };
		expect(body.choices).toMatchObject([{ finish_reason: "stop", message }]);
		for (const name of ["candidates", "usageMetadata", "stop_reason", "content", "result", "response"])
			expect(body).not.toHaveProperty(name);
		return;
	}
	const { chunks, done } = eventsOf(await answer.text());
	const choices = chunks.flatMap((chunk) => chunk.choices);
	expect([deltaText(chunks), done, choices.at(-1)?.finish_reason]).toEqual(["Hello, world!", true, "stop"]);
	expect(choices.map(({ delta }) => delta.reasoning_content ?? "").join("")).toBe(thought);
	expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 });
}

describe.each(SAMPLES)("%s", (name, sample) => {
	const inline = JSON.stringify(sample.whole);
	describe.each([
		["events", EVENTS, sample.stream(sample.text)],
		["events, called JSON", JSON_TYPE, sample.stream(sample.text)],
		["one object", JSON_TYPE, inline],
		["one indented object, called events", EVENTS, JSON.stringify(sample.whole, null, 2)],
		...(name === "Gemini"
			? [["an array", JSON_TYPE, `[${sample.text.map((piece) => JSON.stringify(piece)).join("\n,\r\n")}]`]]
			: []),
	] as [string, string, string][])("as %s", (_form, type, raw) => {
		test.each([false, true])("is a completion and is charged (stream: %p)", async (stream) => {
			upstream.next({ raw, headers: { "content-type": type } });
			const { post } = await chargedFor(gate, async () => {
				const body = { model: "priced", messages: HELLO, stream, stream_options: { include_usage: true } };
				await checkHello(await gate.chat(body), stream, sample.thought);
			});
			expect([post?.status, post?.prompt_tokens, post?.completion_tokens]).toEqual([200, 9, 4]);
		});
	});

	test.each([
		["whole", false],
		["whole", true],
		["streamed", false],
		["streamed", true],
	])("its calls, %s, are OpenAI's (stream: %p)", async (form, stream) => {
		const raw = form === "whole" ? JSON.stringify(sample.wholeCalls) : sample.stream(sample.calls);
		upstream.next({ raw, headers: { "content-type": form === "whole" ? JSON_TYPE : EVENTS } });
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
		const call = { type: "function", function: { name: "lookup", arguments: '{"city":"Toronto"}' } };
		if (!stream) {
			const { choices } = (await answer.json()) as ChatCompletion;
			expect(choices).toMatchObject([{ finish_reason: "tool_calls", message: { tool_calls: [call, call] } }]);
			return;
		}
		const choices = eventsOf(await answer.text()).chunks.flatMap((chunk) => chunk.choices);
		const calls = new Map<number, { id?: string; function: { name?: string; arguments: string } }>();
		for (const part of choices.flatMap(
			({ delta }) => (delta.tool_calls ?? []) as { index: number; id?: string; function: object }[],
		)) {
			const known = calls.get(part.index);
			const piece = part.function as { name?: string; arguments: string };
			if (known === undefined)
				calls.set(part.index, { ...(part.id === undefined ? {} : { id: part.id }), function: { ...piece } });
			else known.function.arguments += piece.arguments;
		}
		expect([...calls.values()].map((joined) => joined.function)).toEqual([call.function, call.function]);
		expect(new Set([...calls.values()].map(({ id }) => id)).size).toBe(2);
		expect(choices.at(-1)?.finish_reason).toBe("tool_calls");
	});

	test("reaches /messages and /responses; a cut answer is incomplete", async () => {
		upstream.always({ raw: JSON.stringify(sample.cut), headers: { "content-type": JSON_TYPE } });
		const message = await gate.call("POST", "/messages", { model: "priced", messages: HELLO, max_tokens: 50 });
		expect(await message.json()).toMatchObject({ content: [{ type: "text", text: "Hello" }], stop_reason: "max_tokens" });
		const response = await gate.call("POST", "/responses", { model: "priced", input: "hello", stream: true });
		expect(await response.text()).toContain('"status":"incomplete"');
	});

	test("a stream that is cut off is a failure that costs nothing", async () => {
		const raw = sample.stream(sample.text.slice(0, 2)).replace("data: [DONE]\n\n", "");
		upstream.next({ raw, headers: { "content-type": EVENTS } });
		const before = await gate.balance();
		expect((await gate.chat({ model: "priced", messages: HELLO })).status).toBe(500);
		expect(await gate.balance()).toBe(before);
	});
});

test("Anthropic's call without arguments has an empty object", async () => {
	const raw = named(anthropicEvents(block(0, { ...ANTHROPIC_CALL, input: {} }, []) as { type: string }[], "tool_use"));
	upstream.next({ raw, headers: { "content-type": EVENTS } });
	const { choices } = (await (await gate.chat({ model: "priced", messages: HELLO })).json()) as ChatCompletion;
	expect(choices).toMatchObject([{ message: { tool_calls: [{ function: { name: "lookup", arguments: "{}" } }] } }]);
});

test("a prompt that Gemini blocks ends with content_filter", async () => {
	const blocked = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } };
	upstream.always({ raw: JSON.stringify(blocked), headers: { "content-type": JSON_TYPE } });
	const { choices } = (await (await gate.chat({ model: "priced", messages: HELLO })).json()) as ChatCompletion;
	expect(choices).toMatchObject([{ finish_reason: "content_filter" }]);
});

test("Workers AI's answer in a JSON format is its text", async () => {
	upstream.next({ raw: JSON.stringify(envelope({ response: { city: "Bern" } })), headers: { "content-type": JSON_TYPE } });
	const { choices } = (await (await gate.chat({ model: "priced", messages: HELLO })).json()) as ChatCompletion;
	expect(choices).toMatchObject([{ message: { content: '{"city":"Bern"}' } }]);
});

const googleError = (code: number, status: string, message: string, details: readonly object[] = []) => ({
	error: { code, message, status, details },
});
const anthropicError = (type: string, message: string) => ({ type: "error", error: { type, message }, request_id: "req_011" });
const workersError = (code: number, message: string) => ({
	result: null,
	success: false,
	errors: [{ code, message }],
	messages: [],
});
const FIELD = "temperature must be less than 2";

test.each([
	["Gemini: a refused field", 400, [googleError(400, "INVALID_ARGUMENT", FIELD)], 400, FIELD],
	[
		"Gemini: a wrong key",
		400,
		googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
		503,
		"offline",
	],
	[
		"Gemini: a prompt that is too long",
		400,
		googleError(
			400,
			"INVALID_ARGUMENT",
			"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
		),
		400,
		"1048576",
	],
	[
		"Gemini: an unknown model",
		404,
		googleError(404, "NOT_FOUND", "models/x is not found for API version v1beta"),
		503,
		"cannot be reached",
	],
	[
		"Gemini: overloaded",
		503,
		googleError(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
		503,
		"Retry-After",
	],
	["Anthropic: a refused field", 400, anthropicError("invalid_request_error", FIELD), 400, FIELD],
	["Anthropic: a wrong key", 401, anthropicError("authentication_error", "invalid x-api-key"), 503, "offline"],
	["Anthropic: overloaded", 529, anthropicError("overloaded_error", "Overloaded"), 429, ""],
	["Anthropic: an unknown model", 404, anthropicError("not_found_error", "model: claude-99"), 503, "cannot be reached"],
	[
		"Anthropic: a prompt that is too long",
		400,
		anthropicError("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
		400,
		"200000",
	],
	["Workers AI: a refused field", 400, workersError(5006, `AiError: Bad input: ${FIELD}`), 400, FIELD],
	["Workers AI: the same inside 200", 200, workersError(5006, `AiError: Bad input: ${FIELD}`), 400, FIELD],
	["Workers AI: a wrong key", 401, workersError(10_000, "Authentication error"), 503, "offline"],
	["Workers AI: an unknown model", 400, workersError(5007, "No such model @cf/x/y or task"), 503, "cannot be reached"],
	["Workers AI: no capacity", 429, workersError(3040, "Capacity temporarily exceeded, please try again."), 429, ""],
	[
		"Workers AI: a prompt that is too long",
		413,
		workersError(
			5021,
			"The estimated number of input and maximum output tokens (9032) exceeded this model context window limit (8192).",
		),
		400,
		"8192",
	],
])("%s", async (_name, status, body, expected, text) => {
	upstream.always({ status, raw: JSON.stringify(body), headers: { "content-type": JSON_TYPE } });
	const before = await gate.balance();
	const answer = await gate.chat({ model: "priced", messages: HELLO });
	expect([answer.status, await answer.text()]).toEqual([expected, expect.stringContaining(text)]);
	expect(await gate.balance()).toBe(before);
});

test("Gemini's quota of a minute asks for a pause of its RetryInfo", async () => {
	const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "25.8s" }];
	const body = googleError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan.", details);
	upstream.always({ status: 429, raw: JSON.stringify(body), headers: { "content-type": JSON_TYPE } });
	const answer = await gate.chat({ model: "priced", messages: HELLO });
	expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "26"]);
});

test("Anthropic's error among its events ends the stream with its text", async () => {
	const events = [...anthropicEvents([], "end_turn").slice(0, 1), anthropicError("overloaded_error", "Overloaded")];
	upstream.always({ raw: named(events), headers: { "content-type": EVENTS } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
	expect(await answer.text()).toContain("MODEL_OVERLOADED");
});
