/** Answers in the other form than was asked for are converted and charged as usual. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
	chunksOf,
	completionOf,
	PLAIN_SPEECH,
	type Speech,
	TOOL_SPEECH,
	usageChunk,
	usageOfSpeech,
} from "../support/chat-answers.ts";
import { type ChatCompletion, deltaText, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type PricedGateway, startPricedGateway } from "../support/priced-gateway.ts";
import { chargedFor, type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
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
const sse = (speech: Speech, { usage = true, done = true } = {}) =>
	[...chunksOf(speech, "scripted"), ...(usage ? [usageChunk(usageOfSpeech(speech), "scripted")] : [])]
		.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
		.join("") + (done ? "data: [DONE]\n\n" : "");
const json = (speech: Speech) => JSON.stringify(completionOf(speech, "scripted"));

test.each([
	["labelled as it is", EVENTS, sse(PLAIN_SPEECH)],
	["labelled as JSON", JSON_TYPE, sse(PLAIN_SPEECH)],
	["without [DONE]", EVENTS, sse(PLAIN_SPEECH, { done: false })],
	["labelled as a page", "text/html", sse(PLAIN_SPEECH)],
	["behind a comment", EVENTS, `: hello\n\n${sse(PLAIN_SPEECH)}`],
	["with names of events", EVENTS, sse(PLAIN_SPEECH).replaceAll("data: ", "event: message\ndata: ")],
])("events for a whole answer, %s", async (_name, type, raw) => {
	upstream.next({ raw, headers: { "content-type": type } });
	const { post } = await chargedFor(gate, async () => {
		const answer = await gate.chat({ model: "priced", messages: HELLO });
		expect(answer.status).toBe(200);
		const body = (await answer.json()) as ChatCompletion;
		expect(body).toMatchObject({ object: "chat.completion", model: "priced", usage: { prompt_tokens: 9, completion_tokens: 4 } });
		expect(body.choices).toMatchObject([
			{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello, world!" } },
		]);
	});
	expect([post?.prompt_tokens, post?.completion_tokens]).toEqual([9, 4]);
});

test("events of calls, thoughts and several choices make one whole answer", async () => {
	upstream.next({ raw: sse(TOOL_SPEECH), headers: { "content-type": EVENTS } });
	const called = (await (await gate.chat({ model: "priced", messages: HELLO })).json()) as ChatCompletion;
	expect(called.choices[0]).toMatchObject(completionOf(TOOL_SPEECH, "scripted").choices[0] as object);
	const speech: Speech = { content: ["a", "b"], reasoning: ["hm", "m"], choices: 2, logprobs: true };
	upstream.next({ raw: sse(speech, { usage: false }), headers: { "content-type": EVENTS } });
	const both = (await (await gate.chat({ model: "priced", messages: HELLO, n: 2 })).json()) as ChatCompletion;
	for (const index of [0, 1])
		expect(both.choices[index]).toMatchObject({
			index,
			message: { content: "ab", reasoning_content: "hmm" },
			logprobs: { content: [{ token: "a" }, { token: "b" }] },
		});
});

test.each([
	["labelled as it is", JSON_TYPE, json(PLAIN_SPEECH)],
	["labelled as events", EVENTS, json(PLAIN_SPEECH)],
	["labelled as a page", "text/html; charset=UTF-8", json(PLAIN_SPEECH)],
	["behind blank lines", JSON_TYPE, `\n\n   ${json(PLAIN_SPEECH)}`],
	["over many lines", EVENTS, JSON.stringify(completionOf(PLAIN_SPEECH, "scripted"), null, 2)],
])("a whole answer for a stream, %s", async (_name, type, raw) => {
	upstream.next({ raw, headers: { "content-type": type } });
	const { post } = await chargedFor(gate, async () => {
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true, stream_options: { include_usage: true } });
		const { chunks, done } = eventsOf(await answer.text());
		expect([deltaText(chunks), done]).toEqual(["Hello, world!", true]);
		expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4 });
		expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(["chat.completion.chunk"]));
		expect(chunks.flatMap(({ choices }) => choices).at(-1)?.finish_reason).toBe("stop");
	});
	expect([post?.status, post?.prompt_tokens, post?.completion_tokens]).toEqual([200, 9, 4]);
});

const LINES = chunksOf(PLAIN_SPEECH, "scripted").map((chunk) => JSON.stringify(chunk));
const USAGE = JSON.stringify(usageChunk(usageOfSpeech(PLAIN_SPEECH), "scripted"));

type Framing = (lines: readonly string[]) => string;
const each =
	(framed: (line: string) => string): Framing =>
	(lines) =>
		lines.map(framed).join("");
const inArray =
	(indent: number): Framing =>
	(lines) => {
		const objects = lines.filter((line) => line !== "[DONE]").map((line) => JSON.parse(line) as object);
		return indent > 0
			? JSON.stringify(objects, null, indent)
			: `[${objects.map((object) => JSON.stringify(object)).join("\n,\n")}]`;
	};

describe.each([
	["one object a line", "application/x-ndjson", each((line) => `${line}\n`)],
	["one object a line, called events", EVENTS, each((line) => `${line}\n`)],
	["one object a line, called JSON, with CRLF", JSON_TYPE, each((line) => `${line}\r\n`)],
	["`data:` twice", EVENTS, each((line) => `data: data: ${line}\n\n`)],
	["one line end between events", EVENTS, each((line) => `data: ${line}\n`)],
	["an array of objects", JSON_TYPE, inArray(0)],
	["an indented array of objects, called events", EVENTS, inArray(2)],
])("a stream with %s", (_name, type, framed) => {
	describe.each([true, false])("[DONE]: %p", (done) => {
		const raw = framed([...LINES, USAGE, ...(done ? ["[DONE]"] : [])]);

		test("is one, charged as usual", async () => {
			upstream.next({ raw, headers: { "content-type": type } });
			const { post } = await chargedFor(gate, async () => {
				const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
				const { chunks, done: isDone } = eventsOf(await answer.text());
				expect([answer.status, deltaText(chunks), isDone]).toEqual([200, "Hello, world!", true]);
			});
			expect([post?.status, post?.prompt_tokens, post?.completion_tokens]).toEqual([200, 9, 4]);
		});

		test("is a whole answer, where one was asked for", async () => {
			upstream.next({ raw, headers: { "content-type": type } });
			const answer = await gate.chat({ model: "priced", messages: HELLO });
			const { choices, usage } = (await answer.json()) as ChatCompletion;
			expect(choices).toMatchObject([{ message: { content: "Hello, world!" }, finish_reason: "stop" }]);
			expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4 });
		});
	});

	test("goes out as it comes, wherever its pieces are cut", async () => {
		const bytes = Buffer.from(framed([...LINES, USAGE]));
		const sent = Promise.withResolvers<void>();
		const server = Bun.serve({
			port: 0,
			fetch: () =>
				new Response(
					new ReadableStream({
						async start(controller) {
							const half = Math.floor(bytes.length * 0.6);
							for (const byte of bytes.subarray(0, half)) controller.enqueue(Uint8Array.of(byte));
							await sent.promise;
							for (const byte of bytes.subarray(half)) controller.enqueue(Uint8Array.of(byte));
							controller.close();
						},
					}),
					{ headers: { "content-type": type } },
				),
		});
		const other = await startGateway({
			config: {
				upstreams: { slow: upstreamEntry(`http://127.0.0.1:${server.port}/v1`, { discover: false }) },
				models: { entries: { priced: pricedModel(["slow"]) } },
			},
		});
		const answer = await other.chat({ model: "priced", messages: HELLO, stream: true });
		const decoder = new TextDecoder();
		let told = "";
		for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
			told += decoder.decode(piece, { stream: true });
			if (told.includes("Hello")) sent.resolve();
		}
		expect(deltaText(eventsOf(told).chunks)).toBe("Hello, world!");
		await other.stop();
		await server.stop(true);
	});
});

/** Answers of Ollama's POST /api/chat, as its docs/api.md shows them. */
const OLLAMA_HEAD = { model: "llama3.2", created_at: "2023-08-04T08:52:19.385406455-07:00" };
const OLLAMA_END = {
	done_reason: "stop",
	done: true,
	total_duration: 4_883_583_458,
	load_duration: 1_334_875,
	prompt_eval_count: 9,
	prompt_eval_duration: 342_546_000,
	eval_count: 4,
	eval_duration: 4_535_599_000,
};
const ollamaLine = (message: object, end: object = { done: false }) =>
	JSON.stringify({ ...OLLAMA_HEAD, message: { role: "assistant", ...message }, ...end });
const OLLAMA_CALL = { function: { name: "lookup", arguments: { city: "Toronto" } } };
const OLLAMA_TEXT = [
	ollamaLine({ content: "", thinking: "hm" }),
	ollamaLine({ content: "Hello,", images: null }),
	ollamaLine({ content: " world!" }),
	ollamaLine({ content: "" }, OLLAMA_END),
];
const OLLAMA_CALLS = [
	ollamaLine({ content: "", tool_calls: [OLLAMA_CALL] }),
	ollamaLine({ content: "", tool_calls: [OLLAMA_CALL] }),
	ollamaLine({ content: "" }, OLLAMA_END),
];
const OLLAMA_WHOLE = ollamaLine({ content: "Hello, world!", thinking: "hm" }, OLLAMA_END);

describe.each([
	["lines", "application/x-ndjson", OLLAMA_TEXT.map((line) => `${line}\n`).join("")],
	["lines, the last without its end", "application/x-ndjson", OLLAMA_TEXT.join("\n")],
	["events", EVENTS, OLLAMA_TEXT.map((line) => `data: ${line}\n\n`).join("")],
	["one object", JSON_TYPE, OLLAMA_WHOLE],
	["one indented object", JSON_TYPE, JSON.stringify(JSON.parse(OLLAMA_WHOLE), null, 2)],
])("an answer of Ollama's own form, as %s,", (_name, type, raw) => {
	test.each([false, true])("is a completion and is charged (stream: %p)", async (stream) => {
		upstream.next({ raw, headers: { "content-type": type } });
		const { post } = await chargedFor(gate, async () => {
			const answer = await gate.chat({ model: "priced", messages: HELLO, stream, stream_options: { include_usage: true } });
			expect(answer.status).toBe(200);
			if (stream) {
				const { chunks, done } = eventsOf(await answer.text());
				const choices = chunks.flatMap((chunk) => chunk.choices);
				expect([deltaText(chunks), done, choices.at(-1)?.finish_reason]).toEqual(["Hello, world!", true, "stop"]);
				expect(choices.map(({ delta }) => delta.reasoning_content ?? "").join("")).toBe("hm");
				expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 });
				expect(chunks[0]?.created).toBe(Math.floor(Date.parse(OLLAMA_HEAD.created_at) / 1000));
				return;
			}
			const body = (await answer.json()) as ChatCompletion;
			expect(body).toMatchObject({ object: "chat.completion", usage: { prompt_tokens: 9, completion_tokens: 4 } });
			expect(body.choices).toMatchObject([
				{ finish_reason: "stop", message: { role: "assistant", content: "Hello, world!", reasoning_content: "hm" } },
			]);
			for (const name of ["message", "done", "eval_count", "total_duration"]) expect(body).not.toHaveProperty(name);
		});
		expect([post?.status, post?.prompt_tokens, post?.completion_tokens]).toEqual([200, 9, 4]);
	});
});

test.each([false, true])("calls in Ollama's own form are calls of OpenAI's (stream: %p)", async (stream) => {
	upstream.next({ raw: OLLAMA_CALLS.join("\n"), headers: { "content-type": "application/x-ndjson" } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
	const call = { type: "function", function: { name: "lookup", arguments: '{"city":"Toronto"}' } };
	if (stream) {
		const choices = eventsOf(await answer.text()).chunks.flatMap((chunk) => chunk.choices);
		const calls = choices.flatMap(({ delta }) => (delta.tool_calls ?? []) as { index: number; id: string }[]);
		expect(calls).toMatchObject([
			{ index: 0, ...call },
			{ index: 1, ...call },
		]);
		expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
		expect(choices.at(-1)?.finish_reason).toBe("tool_calls");
		return;
	}
	const { choices } = (await answer.json()) as ChatCompletion;
	expect(choices).toMatchObject([{ finish_reason: "tool_calls", message: { tool_calls: [call, call] } }]);
});

test("Ollama's own form is told on /messages and /responses, and cut answers are incomplete", async () => {
	const cut = ollamaLine({ content: "Hello" }, { ...OLLAMA_END, done_reason: "length" });
	upstream.always({ raw: cut, headers: { "content-type": JSON_TYPE } });
	const message = await gate.call("POST", "/messages", { model: "priced", messages: HELLO, max_tokens: 50 });
	expect(await message.json()).toMatchObject({ content: [{ type: "text", text: "Hello" }], stop_reason: "max_tokens" });
	const response = await gate.call("POST", "/responses", { model: "priced", input: "hello", stream: true });
	expect(await response.text()).toContain('"status":"incomplete"');
});

test.each([
	["Ollama's lines that end before the last", false, `${OLLAMA_TEXT.slice(0, 2).join("\n")}\n`],
	["an error among Ollama's lines", false, `${OLLAMA_TEXT[0]}\n{"error":"an error was encountered while running the model"}\n`],
	["an empty array", true, "[]"],
	["an array of no chunks", true, '["a", 1, [2]]'],
	["an array of other objects", true, '[{"generated_text":"hello"}]'],
	["an array of other objects, for a whole answer", false, '[{"generated_text":"hello"}]'],
	["an array that is cut", false, inArray(0)(LINES).slice(0, 300)],
])("%s: a failure that costs nothing", async (_name, stream, raw) => {
	upstream.next({ raw, headers: { "content-type": JSON_TYPE } });
	const before = await gate.balance();
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
	expect(answer.status).toBe(500);
	await answer.text();
	expect(await gate.balance()).toBe(before);
});

test("a stream labelled as JSON is a stream", async () => {
	upstream.next({ raw: sse(PLAIN_SPEECH), headers: { "content-type": JSON_TYPE } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
	expect(deltaText(eventsOf(await answer.text()).chunks)).toBe("Hello, world!");
});

test("a whole answer of calls is told on /messages and /responses as a stream", async () => {
	upstream.always({ raw: json(TOOL_SPEECH), headers: { "content-type": JSON_TYPE } });
	const tools = (schema: string) =>
		["lookup", "weather"].map((name) => ({ type: "function", name, [schema]: { type: "object" } }));
	const asked = { model: "priced", stream: true };
	const messages = await gate.call("POST", "/messages", {
		...asked,
		messages: HELLO,
		max_tokens: 50,
		tools: tools("input_schema").map(({ type: _, ...tool }) => tool),
	});
	const told = await messages.text();
	for (const name of ["lookup", "weather"]) expect(told).toContain(`"name":"${name}"`);
	expect(told).toContain('"stop_reason":"tool_use"');
	const responses = await gate.call("POST", "/responses", { ...asked, input: "hello", tools: tools("parameters") });
	expect((await responses.text()).split("response.function_call_arguments.done\n")).toHaveLength(3);
});

test.each([true, false])("an error in the other form is told (stream: %p)", async (stream) => {
	const error = JSON.stringify({ error: { message: "temperature is too high", code: 400 } });
	upstream.next({ raw: stream ? error : `data: ${error}\n\n`, headers: { "content-type": stream ? JSON_TYPE : EVENTS } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
	expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("temperature is too high")]);
});

test.each([
	["a stream that is cut, for a whole answer", false, `data: ${JSON.stringify(chunksOf(PLAIN_SPEECH, "scripted")[1])}\n\n`],
	["JSON that is no completion, for a stream", true, '{"hello":"world"}'],
	["half a completion, for a stream", true, json(PLAIN_SPEECH).slice(0, 100)],
])("%s is a failure, and costs nothing", async (_name, stream, raw) => {
	upstream.next({ raw, headers: { "content-type": stream ? JSON_TYPE : EVENTS } });
	const before = await gate.balance();
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
	expect(answer.status).toBe(500);
	await answer.text();
	expect(await gate.balance()).toBe(before);
});
