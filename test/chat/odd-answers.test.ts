/** Members that are missing or wrong, usage in odd places, errors in odd forms: what servers get wrong and clients trip over. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type ChatCompletion, deltaText, type ErrorBody, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { chargedFor, type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			limits: { failedRequests: 0 },
			models: { entries: { priced: pricedModel(["scripted"]) } },
		},
	});
});
beforeEach(() => upstream.reset());
afterAll(async () => {
	expect((await gate.audit()).ok).toBe(true);
	await gate.stop();
	await upstream.stop();
});

const EVENTS = { "content-type": "text/event-stream" };
const sse = (...chunks: readonly object[]) =>
	`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
const said = (content: string, more: object = {}) => ({
	choices: [{ index: 0, delta: { content }, finish_reason: null }],
	...more,
});
const STOP = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };

const HEADS: readonly (readonly [string, object])[] = [
	["none at all", {}],
	["nulls", { id: null, object: null, created: null, model: null }],
	["wrong types", { id: 7, object: 1, created: "now", model: ["x"] }],
	["another object", { id: "", object: "text", created: 0.5, model: "" }],
];

describe("members of every answer", () => {
	test.each(HEADS)("of a chunk are put in: %s", async (_name, head) => {
		upstream.next({ raw: sse(said("Hello", head), said(" world", head), { ...STOP, ...head }), headers: EVENTS });
		const { chunks, done } = eventsOf(await (await gate.chat({ model: "priced", messages: HELLO, stream: true })).text());
		expect([deltaText(chunks), done]).toEqual(["Hello world", true]);
		for (const chunk of chunks) {
			expect(chunk.id).toStartWith("chatcmpl-");
			expect(chunk).toMatchObject({ id: chunks[0]?.id, object: "chat.completion.chunk", model: "priced" });
			expect(chunk.created).toBeNumber();
		}
	});

	test.each(HEADS)("of a whole answer are put in: %s", async (_name, head) => {
		const choices = [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }];
		upstream.next({ raw: JSON.stringify({ ...head, choices }) });
		const body = (await (await gate.chat({ model: "priced", messages: HELLO })).json()) as ChatCompletion & { created: unknown };
		expect(body).toMatchObject({ object: "chat.completion", model: "priced", usage: { completion_tokens: 2 } });
		expect([body.id.startsWith("chatcmpl-"), typeof body.created]).toEqual([true, "number"]);
	});

	test.each([
		["no choices", { usage: null }, 0],
		["choices that are null", { choices: null }, 0],
		["an end without a delta", { choices: [{ index: 0, finish_reason: "stop" }] }, 1],
		["a delta that is null", { choices: [{ index: 0, delta: null, finish_reason: "stop" }] }, 1],
		["no index", { choices: [{ delta: {}, finish_reason: "stop" }] }, 1],
		["a message in the place of the delta", { choices: [{ index: 0, message: { content: "!" }, finish_reason: "stop" }] }, 1],
	])("a chunk with %s is one that clients can read", async (_name, odd, count) => {
		upstream.next({ raw: sse(said("Hello"), odd, STOP), headers: EVENTS });
		const { chunks, done } = eventsOf(await (await gate.chat({ model: "priced", messages: HELLO, stream: true })).text());
		expect(done).toBe(true);
		expect(chunks[1]?.choices).toHaveLength(count);
		for (const choice of chunks[1]?.choices ?? []) expect([choice.index, typeof choice.delta]).toEqual([0, "object"]);
		expect(deltaText(chunks)).toStartWith("Hello");
	});
});

describe("usage", () => {
	const streams: readonly (readonly [string, string, number, number])[] = [
		["inside the choice that ends", sse(said("Hi"), { choices: [{ ...STOP.choices[0], usage: USAGE }] }), 9, 2],
		[
			"cumulative in every chunk",
			sse(said("H", { usage: { ...USAGE, completion_tokens: 1 } }), said("i", { usage: USAGE }), STOP),
			9,
			2,
		],
		[
			"cumulative inside every choice",
			sse(
				...[1, 2].map((completion_tokens) => ({
					choices: [{ index: 0, delta: { content: "a" }, usage: { ...USAGE, completion_tokens } }],
				})),
				STOP,
			),
			9,
			2,
		],
		[
			"with zeros behind it",
			sse(said("Hi", { usage: USAGE }), { ...STOP, usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }),
			9,
			2,
		],
		["fractional", sse(said("Hi"), { ...STOP, usage: { prompt_tokens: 8.6, completion_tokens: 2.2, total_tokens: 10.8 } }), 9, 2],
	];
	test.each(streams)("of a stream, %s, is understood", async (_name, raw, prompt, completion) => {
		upstream.next({ raw, headers: EVENTS });
		const { post } = await chargedFor(gate, async () => {
			const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true, stream_options: { include_usage: true } });
			const { chunks } = eventsOf(await answer.text());
			expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion });
			expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
		});
		expect([post?.prompt_tokens, post?.completion_tokens, post?.tokens_counted]).toEqual([prompt, completion, 0]);
	});

	test.each([
		["negative", { prompt_tokens: -1, completion_tokens: -1, total_tokens: -2 }],
		["a text", "none"],
		["null", null],
	])("that is %s is counted here", async (_name, usage) => {
		const choices = [{ index: 0, message: { role: "assistant", content: "Hello there" }, finish_reason: "stop" }];
		upstream.next({ raw: JSON.stringify({ object: "chat.completion", choices, usage }) });
		const { post } = await chargedFor(gate, async () => {
			const body = (await (await gate.chat({ model: "priced", messages: HELLO })).json()) as ChatCompletion;
			expect(body.usage.completion_tokens).toBe(3);
		});
		expect([post?.completion_tokens, post?.tokens_counted]).toEqual([3, 1]);
	});

	test("inside the choice of a whole answer is understood", async () => {
		const choices = [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop", usage: USAGE }];
		upstream.next({ raw: JSON.stringify({ object: "chat.completion", choices }) });
		const body = (await (await gate.chat({ model: "priced", messages: HELLO })).json()) as ChatCompletion;
		expect(body.usage).toMatchObject(USAGE);
	});
});

const TOLD = "temperature must be at most 2";
const ERRORS: readonly (readonly [string, number, string])[] = [
	["a list of one", 400, JSON.stringify([{ error: { code: 400, message: TOLD, status: "INVALID_ARGUMENT" } }])],
	["a list of errors", 400, JSON.stringify({ errors: [{ message: TOLD }] })],
	["a list of texts", 400, JSON.stringify({ errors: [TOLD] })],
	["a list under error", 422, JSON.stringify({ error: [{ message: TOLD }] })],
	["plain text", 400, TOLD],
	["a JSON text", 400, JSON.stringify(TOLD)],
	["a page of HTML", 413, `<html><head><title>${TOLD}</title></head><body><h1>x</h1></body></html>`],
	["a heading of HTML", 400, `<html><body><h1>${TOLD}</h1></body></html>`],
	["an error in an error", 400, JSON.stringify({ error: { error: { message: TOLD } } })],
	["JSON in the text", 400, JSON.stringify({ error: { message: JSON.stringify({ error: { message: TOLD } }) } })],
	[
		"the provider's own behind another",
		400,
		JSON.stringify({
			error: { message: "Provider returned error", code: 400, metadata: { raw: JSON.stringify({ error: { message: TOLD } }) } },
		}),
	],
	["msg", 400, JSON.stringify({ code: 400, msg: TOLD })],
	["a message that is an object", 400, JSON.stringify({ error: { message: { message: TOLD } } })],
	["a message that is a list", 400, JSON.stringify({ message: [TOLD] })],
	["a list within the error", 400, JSON.stringify({ error: { errors: [{ message: TOLD }], code: 400 } })],
	["a list of details", 400, JSON.stringify({ errors: [{ title: "Bad Request", detail: TOLD }] })],
	["JSON in the error", 400, JSON.stringify({ error: JSON.stringify({ message: TOLD }) })],
	["XML", 400, `<?xml version="1.0"?><Error><Code>Bad</Code><Message>${TOLD}</Message></Error>`],
	["a list inside 200", 200, JSON.stringify([{ error: { code: 400, message: TOLD } }])],
	["a message and a code inside 200", 200, JSON.stringify({ code: 400, message: TOLD })],
	["a type inside 200", 200, JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: TOLD } })],
	["500 around the refusal of a server behind", 500, JSON.stringify({ error: { code: 400, message: TOLD } })],
];

describe.each([false, true])("an error (stream: %p)", (stream) => {
	test.each(ERRORS)("as %s is told", async (_name, status, raw) => {
		upstream.next({ status, raw });
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
		const { error } = (await answer.json()) as ErrorBody;
		expect([answer.status, error.message]).toEqual([400, TOLD]);
	});
});

test.each([
	["a list", JSON.stringify([{ error: { code: 400, message: TOLD } }])],
	["a message and a code", JSON.stringify({ code: 400, message: TOLD })],
])("an error event as %s is told, before and behind what was said", async (_name, event) => {
	upstream.next({ raw: `event: error\ndata: ${event}\n\n`, headers: EVENTS });
	const first = await gate.chat({ model: "priced", messages: HELLO, stream: true });
	expect([first.status, ((await first.json()) as ErrorBody).error.message]).toEqual([400, TOLD]);
	upstream.next({ raw: `data: ${JSON.stringify(said("Hi"))}\n\ndata: ${event}\n\n`, headers: EVENTS });
	const { chunks, done } = eventsOf(await (await gate.chat({ model: "priced", messages: HELLO, stream: true })).text());
	expect([chunks.at(-1)?.error?.message, done]).toEqual([TOLD, false]);
});
