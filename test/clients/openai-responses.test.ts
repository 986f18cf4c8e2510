/** The Responses API as real clients call it: the `openai` package, the AI SDK, LangChain. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI, { type APIError } from "openai";
import { TOOL_SPEECH } from "../support/chat-answers.ts";
import { pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let client: OpenAI;
const model = "gpt-test";

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { priced: pricedModel(["scripted"]) }, mappings: { text: { [model]: "priced" } } },
		},
	});
	client = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
});
afterAll(async () => {
	expect(upstream.requests.flatMap(({ complaints }) => complaints)).toEqual([]);
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

const sent = () => upstream.requests.at(-1)?.body ?? {};
const FUNCTIONS: OpenAI.Responses.FunctionTool[] = ["lookup", "weather"].map((name) => ({
	type: "function",
	name,
	parameters: { type: "object", properties: {}, additionalProperties: false },
	strict: false,
}));

test("openai: text in, text out, with usage and the request's id", async () => {
	const { data, request_id } = await client.responses
		.create({ model, input: "hello", instructions: "Be brief.", max_output_tokens: 50, temperature: 0.5, metadata: { a: "b" } })
		.withResponse();
	expect(data).toMatchObject({ object: "response", status: "completed", model: "priced", metadata: { a: "b" }, error: null });
	expect(data.output_text).toBe("Hello, world!");
	expect(data.usage).toMatchObject({ input_tokens: 9, output_tokens: 4, total_tokens: 13 });
	expect(data.id).toBe(`resp_${request_id}`);
	expect(sent()).toMatchObject({
		messages: [
			{ role: "system", content: "Be brief." },
			{ role: "user", content: "hello" },
		],
		max_tokens: 50,
		temperature: 0.5,
	});
});

test("openai: its stream helper puts the answer together", async () => {
	upstream.next({ speech: { content: ["4", "!"], reasoning: ["2 plus ", "2"] }, byteByByte: true });
	const stream = client.responses.stream({ model, input: "2+2?" });
	let text = "";
	stream.on("response.output_text.delta", ({ delta }) => {
		text += delta;
	});
	const final = await stream.finalResponse();
	expect(text).toBe("4!");
	expect(final.output_text).toBe("4!");
	expect(final.output[0]).toMatchObject({ type: "reasoning", summary: [{ type: "summary_text", text: "2 plus 2" }] });
	expect(final.usage?.output_tokens_details.reasoning_tokens).toBe(2);
});

test("openai: a loop of tools, its items sent back as they came", async () => {
	const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "hello" }];
	upstream.next({ speech: { ...TOOL_SPEECH, reasoning: ["which?"] } });
	const first = await client.responses.create({ model, input, tools: FUNCTIONS, tool_choice: "required" });
	const calls = first.output.filter((item) => item.type === "function_call");
	expect(calls.map(({ call_id, name, arguments: args }) => [call_id, name, JSON.parse(args)])).toEqual([
		["call_a", "lookup", { q: "café é" }],
		["call_b", "weather", { city: "Zürich" }],
	]);
	expect(sent()).toMatchObject({ tool_choice: "required", tools: [{ type: "function", function: { name: "lookup" } }, {}] });
	for (const item of first.output) input.push(item as OpenAI.Responses.ResponseInputItem);
	for (const { call_id } of calls) input.push({ type: "function_call_output", call_id, output: "42" });
	const second = await client.responses.create({ model, input, tools: FUNCTIONS });
	expect(second.output_text).toBe("Hello, world!");
	expect(sent().messages).toEqual([
		{ role: "user", content: "hello" },
		{
			role: "assistant",
			reasoning_content: "which?",
			tool_calls: [
				{ id: "call_a", type: "function", function: { name: "lookup", arguments: '{"q":"caf\\u00e9 é"}' } },
				{ id: "call_b", type: "function", function: { name: "weather", arguments: '{"city":"Zürich"}' } },
			],
		},
		{ role: "tool", tool_call_id: "call_a", content: "42" },
		{ role: "tool", tool_call_id: "call_b", content: "42" },
	]);
});

test("openai: what a provider wants back with its thoughts comes back, streamed or not", async () => {
	const details = [{ type: "reasoning.text", index: 0, text: "hm", signature: "c2ln" }];
	const message = { role: "assistant", content: "Yes.", reasoning_content: "hm", reasoning_details: details };
	upstream.next({
		raw: JSON.stringify({ id: "x", object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] }),
		headers: { "content-type": "application/json" },
	});
	const first = await client.responses.create({ model, input: "really?", include: ["reasoning.encrypted_content"] });
	const thought = first.output[0];
	expect(thought?.type === "reasoning" ? typeof thought.encrypted_content : thought).toBe("string");
	await client.responses.create({
		model,
		input: [
			{ role: "user", content: "really?" },
			...(first.output as OpenAI.Responses.ResponseInputItem[]),
			{ role: "user", content: "why?" },
		],
	});
	expect((sent().messages as object[])[1]).toMatchObject({ reasoning_content: "hm", reasoning_details: details });
});

test("openai: a schema goes up as it was given and its answer comes down parsed", async () => {
	const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
	upstream.next({ speech: { content: ['{"city":', '"Zürich"}'] } });
	const format = { type: "json_schema" as const, name: "place", strict: true, schema };
	const answer = await client.responses.parse({ model, input: "where?", text: { format } });
	expect(answer.output_parsed).toEqual({ city: "Zürich" });
	expect(sent().response_format).toEqual({ type: "json_schema", json_schema: { name: "place", strict: true, schema } });
});

test("openai: an answer cut by its maximum is incomplete", async () => {
	upstream.next({ speech: { content: ["Hel"], finishReason: "length" } });
	const answer = await client.responses.create({ model, input: "hello", max_output_tokens: 16 });
	expect(answer).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
});

test("openai: probabilities of tokens where they are asked for", async () => {
	upstream.next({ speech: { content: ["He", "llo"], logprobs: true } });
	const answer = await client.responses.create({
		model,
		input: "hello",
		include: ["message.output_text.logprobs"],
		top_logprobs: 2,
	});
	const [item] = answer.output;
	expect(item?.type === "message" ? item.content[0] : null).toMatchObject({ logprobs: [{ token: "Hello" }] });
	expect(sent()).toMatchObject({ logprobs: true, top_logprobs: 2 });
});

test("openai: images and files of the input reach the model as chat has them", async () => {
	const url = `data:image/png;base64,${pngHeader().toString("base64")}`;
	await client.responses.create({
		model,
		input: [
			{
				role: "user",
				content: [
					{ type: "input_text", text: "what is it?" },
					{ type: "input_image", image_url: url, detail: "low" },
				],
			},
		],
	});
	const [message] = sent().messages as { content: { type: string; image_url?: { url: string } }[] }[];
	expect(message?.content.map((part) => part.image_url?.url ?? part.type)).toEqual(["text", url]);
});

/** The header of a PNG of 100 by 100 pixels. */
function pngHeader(): Buffer {
	const bytes = Buffer.alloc(64);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(bytes);
	bytes.writeUInt32BE(100, 16);
	bytes.writeUInt32BE(100, 20);
	return bytes;
}

test("openai: errors are its own, with our code", async () => {
	const fault = async (body: object) =>
		(await client.responses.create({ model, input: "x", ...body } as never).catch((error: unknown) => error)) as APIError;
	const unknown = await fault({ model: "nobody" });
	expect(unknown).toBeInstanceOf(OpenAI.NotFoundError);
	expect(unknown.code).toBe("MODEL_NOT_FOUND");
	const stateful = await fault({ previous_response_id: "resp_1" });
	expect(stateful).toMatchObject({ status: 400, param: "previous_response_id" });
	const broken = client.responses.stream({ model, input: "x" });
	upstream.next({ dieAfterChunks: 3 });
	const types: string[] = [];
	for await (const event of broken) types.push(event.type);
	expect(types.at(-1)).toBe("response.failed");
});

test("AI SDK: a loop of tools, streamed, and a whole answer", async () => {
	const provider = createOpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key });
	const options = { openai: { store: false } };
	upstream.next({ speech: { ...TOOL_SPEECH, reasoning: ["which?"] } }, {});
	const args: unknown[] = [];
	const call = (name: string) =>
		tool({
			description: name,
			inputSchema: jsonSchema({ type: "object", properties: {} }),
			execute: (input: unknown) => {
				args.push(input);
				return Promise.resolve("42");
			},
		});
	const run = streamText({
		model: provider.responses(model),
		prompt: "hello",
		tools: { lookup: call("lookup"), weather: call("weather") },
		stopWhen: stepCountIs(3),
		providerOptions: options,
		maxRetries: 0,
	});
	let text = "";
	for await (const piece of run.textStream) text += piece;
	expect(text).toBe("Hello, world!");
	expect(args).toEqual([{ q: "café é" }, { city: "Zürich" }]);
	const whole = await generateText({
		model: provider.responses(model),
		prompt: "hello",
		providerOptions: options,
		maxRetries: 0,
	});
	expect(whole.text).toBe("Hello, world!");
	expect(whole.usage.outputTokens).toBe(4);
});

test("LangChain: a whole answer and a stream", async () => {
	const chat = new ChatOpenAI({
		model,
		apiKey: gate.key,
		configuration: { baseURL: `${gate.url}/api/v1` },
		useResponsesApi: true,
		zdrEnabled: true,
		maxRetries: 0,
	});
	expect((await chat.invoke("hello")).text).toBe("Hello, world!");
	let text = "";
	for await (const piece of await chat.stream("hello")) text += piece.text;
	expect(text).toBe("Hello, world!");
});
