/** The `@anthropic-ai/sdk` package as it is published, and the AI SDK's provider for Anthropic, against a running gateway. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import { TOOL_SPEECH } from "../support/chat-answers.ts";
import { pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let client: Anthropic;
const model = "claude-test";
const hello = [{ role: "user" as const, content: "hello" }];
const ask = { model, max_tokens: 100, messages: hello };

beforeAll(async () => {
	upstream = startScriptedUpstream();
	const efforts = { supportsReasoningEffort: true, reasoningEffortOptions: ["low", "high"] };
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: {
				entries: { priced: pricedModel(["scripted"]), thinks: pricedModel(["scripted"], { capabilities: efforts }) },
				mappings: { text: { [model]: "priced" } },
			},
		},
	});
	client = new Anthropic({ baseURL: `${gate.url}/api`, apiKey: gate.key, maxRetries: 0 });
});
afterAll(async () => {
	expect(upstream.requests.flatMap(({ complaints }) => complaints)).toEqual([]);
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

const sent = () => upstream.requests.at(-1)?.body ?? {};
const TOOLS: Anthropic.Tool[] = ["lookup", "weather"].map((name) => ({
	name,
	description: name,
	input_schema: { type: "object", properties: {} },
}));

test("a message: text, stop reason, usage, the request's id", async () => {
	const { data, request_id } = await client.messages
		.create({ ...ask, system: "Be brief.", stop_sequences: ["END"], metadata: { user_id: "u" } })
		.withResponse();
	expect(data).toMatchObject({
		type: "message",
		role: "assistant",
		model: "priced",
		content: [{ type: "text", text: "Hello, world!" }],
		stop_reason: "end_turn",
		stop_sequence: null,
		usage: { input_tokens: 9, output_tokens: 4, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
	});
	expect(data.id).toBe(`msg_${request_id}`);
	expect(sent()).toEqual({
		model: "scripted",
		messages: [
			{ role: "system", content: "Be brief." },
			{ role: "user", content: "hello" },
		],
		max_tokens: 100,
		stop: ["END"],
	});
});

test("a key as a Bearer token does as well", async () => {
	const bearer = new Anthropic({ baseURL: `${gate.url}/api`, authToken: gate.key, apiKey: null, maxRetries: 0 });
	expect((await bearer.messages.create(ask)).content).toHaveLength(1);
});

test("the client's own stream helper puts the message together", async () => {
	upstream.next({ speech: { content: ["4", "!"], reasoning: ["2 plus ", "2"] }, byteByByte: true });
	const stream = client.messages.stream({ ...ask, thinking: { type: "enabled", budget_tokens: 1024 } });
	const seen = { text: "", thinking: "" };
	stream.on("text", (piece) => {
		seen.text += piece;
	});
	stream.on("thinking", (piece) => {
		seen.thinking += piece;
	});
	const final = await stream.finalMessage();
	expect(seen).toEqual({ text: "4!", thinking: "2 plus 2" });
	expect(
		final.content.map((block) => (block.type === "thinking" ? block.thinking : block.type === "text" && block.text)),
	).toEqual(["2 plus 2", "4!"]);
	expect(final.stop_reason).toBe("end_turn");
	expect(final.usage).toMatchObject({ input_tokens: 9, output_tokens: 4 });
});

test("the raw events come in Anthropic's order", async () => {
	upstream.next({ speech: { ...TOOL_SPEECH, content: ["Let me see."] } });
	const types: string[] = [];
	for await (const event of await client.messages.create({ ...ask, tools: TOOLS, stream: true }))
		types.push(event.type === "content_block_delta" ? event.delta.type : event.type);
	const block = (delta: string, count: number) => ["content_block_start", ...Array(count).fill(delta), "content_block_stop"];
	expect(types).toEqual([
		"message_start",
		...block("text_delta", 1),
		...block("input_json_delta", 4),
		...block("input_json_delta", 3),
		"message_delta",
		"message_stop",
	]);
});

test("a loop of tools, its blocks sent back as they came, streamed or not", async () => {
	const speech = { ...TOOL_SPEECH, reasoning: ["which?"] };
	for (const streamed of [false, true]) {
		upstream.next({ speech });
		const body = { ...ask, tools: TOOLS, tool_choice: { type: "any" as const, disable_parallel_tool_use: true } };
		const first = await (streamed ? client.messages.stream(body).finalMessage() : client.messages.create(body));
		expect(sent()).toMatchObject({ tool_choice: "required", parallel_tool_calls: false, tools: [{ type: "function" }, {}] });
		expect(first.stop_reason).toBe("tool_use");
		const calls = first.content.filter((block) => block.type === "tool_use");
		expect(calls.map(({ id, name, input }) => ({ id, name, input }))).toEqual([
			{ id: "call_a", name: "lookup", input: { q: "café é" } },
			{ id: "call_b", name: "weather", input: { city: "Zürich" } },
		]);
		const results = calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "42" }));
		const second = await client.messages.create({
			...ask,
			tools: TOOLS,
			messages: [
				...hello,
				{ role: "assistant", content: first.content as Anthropic.ContentBlockParam[] },
				{ role: "user", content: [...results, { type: "text", text: "Now?" }] },
			],
		});
		expect(second.content).toMatchObject([{ type: "text", text: "Hello, world!" }]);
		expect(sent().messages).toEqual([
			{ role: "user", content: "hello" },
			{
				role: "assistant",
				reasoning_content: "which?",
				tool_calls: [
					{ id: "call_a", type: "function", function: { name: "lookup", arguments: '{"q":"café é"}' } },
					{ id: "call_b", type: "function", function: { name: "weather", arguments: '{"city":"Zürich"}' } },
				],
			},
			{ role: "tool", tool_call_id: "call_a", content: "42" },
			{ role: "tool", tool_call_id: "call_b", content: "42" },
			{ role: "user", content: "Now?" },
		]);
	}
});

test("what a provider wants back with its thoughts comes back, of redacted ones too", async () => {
	const details = [{ type: "reasoning", format: "x", index: 0, data: "c2ln" }];
	const answer = (message: object) => ({
		raw: JSON.stringify({ id: "x", object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] }),
		headers: { "content-type": "application/json" },
	});
	for (const thought of ["hm", ""]) {
		upstream.next(answer({ role: "assistant", content: "Yes.", reasoning_content: thought, reasoning_details: details }));
		const { content } = await client.messages.create(ask);
		expect(content.map(({ type }) => type)).toContain(thought === "" ? "redacted_thinking" : "thinking");
		const back = { role: "assistant" as const, content: content as Anthropic.ContentBlockParam[] };
		await client.messages.create({ ...ask, messages: [...hello, back, { role: "user", content: "why?" }] });
		expect((sent().messages as object[])[1]).toEqual({
			role: "assistant",
			content: "Yes.",
			reasoning_details: details,
			...(thought === "" ? {} : { reasoning_content: thought }),
		});
	}
});

test("models are listed, whole and page by page, and one is told", async () => {
	const listed = async (query?: Anthropic.ModelListParams) => {
		const ids: string[] = [];
		for await (const { id } of client.models.list(query)) ids.push(id);
		return ids;
	};
	const all = await listed();
	expect(all).toContain("priced");
	expect(all.length).toBeGreaterThan(1);
	// Claude Code asks for so many at once.
	for (const limit of [1, 2, 1000]) expect(await listed({ limit })).toEqual(all);
	const back = await client.models.list({ before_id: all.at(-1) ?? "", limit: 1 });
	expect(back.data.map(({ id }) => id)).toEqual(all.slice(-2, -1));
	const beta: string[] = [];
	for await (const { id } of client.beta.models.list({ limit: 1 })) beta.push(id);
	expect(beta).toEqual(all);
	expect((await client.beta.models.retrieve("priced")).id).toBe("priced");
});

test("thinking and effort are hints: told to models that take them, and to no others", async () => {
	const thinking = { type: "enabled" as const, budget_tokens: 32_000 };
	await client.messages.create({ ...ask, model: "thinks", thinking });
	expect(sent().reasoning_effort).toBe("high");
	await client.messages.create({ ...ask, model: "thinks", output_config: { effort: "low" } });
	expect(sent().reasoning_effort).toBe("low");
	await client.messages.create({ ...ask, model: "thinks", output_config: { effort: "max" } });
	expect(sent()).not.toHaveProperty("reasoning_effort");
	await client.messages.create({ ...ask, thinking });
	expect(sent()).not.toHaveProperty("reasoning_effort");
});

test("an answer cut by its maximum, and one that a stop sequence ended", async () => {
	upstream.next({ speech: { content: ["Hel"], finishReason: "length" } });
	expect((await client.messages.create(ask)).stop_reason).toBe("max_tokens");
	const choice = { index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop", stop_reason: "END" };
	upstream.next({
		raw: JSON.stringify({ object: "chat.completion", choices: [choice] }),
		headers: { "content-type": "application/json" },
	});
	expect(await client.messages.create({ ...ask, stop_sequences: ["END"] })).toMatchObject({
		stop_reason: "stop_sequence",
		stop_sequence: "END",
	});
});

test("tokens that came from a cache are counted apart", async () => {
	upstream.next({
		usage: { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102, prompt_tokens_details: { cached_tokens: 60 } },
	});
	expect((await client.messages.create(ask)).usage).toMatchObject({
		input_tokens: 40,
		cache_read_input_tokens: 60,
		output_tokens: 2,
	});
});

test("images, documents and results with images reach the model as chat has them", async () => {
	const data = pngHeader().toString("base64");
	const image = { type: "image" as const, source: { type: "base64" as const, media_type: "image/png" as const, data } };
	await client.messages.create({
		...ask,
		system: [{ type: "text", text: "Look.", cache_control: { type: "ephemeral" } }],
		messages: [
			{ role: "user", content: [image, { type: "text", text: "what is it?" }] },
			{ role: "assistant", content: [{ type: "tool_use", id: "t1", name: "zoom", input: {} }] },
			{
				role: "user",
				content: [
					{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "closer" }, image] },
					{ type: "document", title: "Notes", source: { type: "text", media_type: "text/plain", data: "They say: a cat." } },
				],
			},
		],
	});
	const url = { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } };
	expect(sent().messages).toEqual([
		{ role: "system", content: [{ type: "text", text: "Look.", cache_control: { type: "ephemeral" } }] },
		{ role: "user", content: [url, { type: "text", text: "what is it?" }] },
		{ role: "assistant", tool_calls: [{ id: "t1", type: "function", function: { name: "zoom", arguments: "{}" } }] },
		{ role: "tool", tool_call_id: "t1", content: "closer" },
		{
			role: "user",
			content: [url, { type: "text", text: "Notes" }, { type: "text", text: "They say: a cat." }],
		},
	]);
});

/** The header of a PNG of 100 by 100 pixels. */
function pngHeader(): Buffer {
	const bytes = Buffer.alloc(64);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(bytes);
	bytes.writeUInt32BE(100, 16);
	bytes.writeUInt32BE(100, 20);
	return bytes;
}

test("a schema of the answer goes up", async () => {
	const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
	upstream.next({ speech: { content: ['{"city":"Zürich"}'] } });
	const answer = await client.messages.parse({ ...ask, output_config: { format: { type: "json_schema", schema } } });
	expect(answer.content).toMatchObject([{ type: "text", text: '{"city":"Zürich"}' }]);
	expect(sent().response_format).toMatchObject({ type: "json_schema", json_schema: { schema } });
});

test("tokens are counted without a call of the model, and for nothing", async () => {
	const [before, seen] = [await gate.balance(), upstream.requests.length];
	const { input_tokens: short } = await client.messages.countTokens({ model, messages: hello });
	const { input_tokens: long } = await client.messages.countTokens({
		model,
		messages: [{ role: "user", content: "hello ".repeat(100) }],
		tools: TOOLS,
		system: "Be brief.",
	});
	expect(short).toBe(Math.ceil("hello".length / 4) + 7);
	expect(long).toBeGreaterThan(150);
	expect([await gate.balance(), upstream.requests.length]).toEqual([before, seen]);
	expect(await client.messages.countTokens({ model: "nobody", messages: hello }).catch((error: unknown) => error)).toMatchObject({
		status: 404,
		type: "not_found_error",
	});
});

test("beta headers and fields that nobody knows do no harm", async () => {
	const answer = await client.beta.messages.create({ ...ask, betas: ["future-2027-01-01"], context_management: { edits: [] } });
	expect(answer.content).toMatchObject([{ type: "text", text: "Hello, world!" }]);
});

test("errors are the client's own, in a stream too", async () => {
	const unknown = (await client.messages.create({ ...ask, model: "nobody" }).catch((error: unknown) => error)) as APIError;
	expect(unknown).toBeInstanceOf(Anthropic.NotFoundError);
	expect(unknown).toMatchObject({ type: "not_found_error", errorCode: "MODEL_NOT_FOUND" });
	expect(unknown.requestID).toMatch(/^[0-9A-Za-z]{32}$/);
	upstream.next({ status: 429 });
	const busy = await client.messages.create(ask).catch((error: unknown) => error);
	expect(busy).toMatchObject({ status: 529, type: "overloaded_error" });
	upstream.next({ dieAfterChunks: 3 });
	const broken = await client.messages
		.stream(ask)
		.finalMessage()
		.catch((error: unknown) => error);
	expect(broken).toBeInstanceOf(APIError);
	expect(broken).toMatchObject({ type: "api_error", errorCode: "INFERENCE_FAILED" });
});

test("AI SDK: a loop of tools, streamed", async () => {
	const provider = createAnthropic({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key });
	upstream.next({ speech: { ...TOOL_SPEECH, reasoning: ["which?"] } }, {});
	const args: unknown[] = [];
	const called = (name: string) =>
		tool({
			description: name,
			inputSchema: jsonSchema({ type: "object", properties: {} }),
			execute: (input: unknown) => {
				args.push(input);
				return Promise.resolve("42");
			},
		});
	const run = streamText({
		model: provider(model),
		prompt: "hello",
		tools: { lookup: called("lookup"), weather: called("weather") },
		stopWhen: stepCountIs(3),
		maxRetries: 0,
	});
	let text = "";
	for await (const piece of run.textStream) text += piece;
	expect(text).toBe("Hello, world!");
	expect(args).toEqual([{ q: "café é" }, { city: "Zürich" }]);
	// Of both steps: eight pieces of thoughts and calls, four of text.
	expect((await run.usage).outputTokens).toBe(12);
});

test("a tool runner whose client keeps threads at the server goes on with the whole conversation", async () => {
	upstream.next({ speech: { ...TOOL_SPEECH, toolCalls: TOOL_SPEECH.toolCalls?.slice(0, 1) ?? [] } });
	const lookup = {
		type: "custom" as const,
		name: "lookup",
		input_schema: { type: "object" as const, properties: { q: { type: "string" as const } } },
		run: ({ q }: { q: string }) => `found ${q}`,
		parse: (value: unknown) => value as { q: string },
	};
	const before = upstream.requests.length;
	const last = await client.beta.messages.toolRunner({ ...ask, tools: [lookup] }).runUntilDone();
	expect(last.content).toMatchObject([{ type: "text", text: "Hello, world!" }]);
	expect(upstream.requests.length - before).toBe(2);
	expect(sent().messages).toMatchObject([
		{ role: "user", content: "hello" },
		{ role: "assistant", tool_calls: [{ function: { name: "lookup" } }] },
		{ role: "tool", content: expect.stringContaining("found caf\u00e9") },
	]);
});

test("a thread that may not go on without one is refused with the code that its SDK knows", async () => {
	const before = upstream.requests.length;
	const thread = client.beta.messages.thread({ model, max_tokens: 100 });
	const failed = await thread.send({ role: "user", content: "hello" }).then(
		() => null,
		(error: unknown) => error,
	);
	expect(failed).toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError);
	expect(String(failed)).toContain("send the whole conversation as messages");
	const tolerant = client.beta.messages.thread({ model, max_tokens: 100, unsupportedRequestBehavior: "continue_unthreaded" });
	await tolerant.send({ role: "user", content: "hello" });
	await tolerant.send({ role: "user", content: "again" });
	expect(upstream.requests.length - before).toBe(2);
	expect(sent().messages).toMatchObject([{ role: "user" }, { role: "assistant" }, { role: "user", content: "again" }]);
});
