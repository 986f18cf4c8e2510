import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { TestEngine } from "../../src/engines/chat/testing/engine.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";
import { type ScriptedSearch, startScriptedSearch } from "../support/scripted-search.ts";
import { until } from "../support/until.ts";

const fixture = new TestEngine();
let gate: RunningGateway;
let client: OpenAI;
let search: ScriptedSearch;

beforeAll(async () => {
	await fixture.start();
	search = startScriptedSearch();
	search.total = 1;
	const web = { search: search.section(["brave"]) };
	gate = await startGateway({ embedded: fixture.engine, config: { web } });
	client = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
});
afterAll(async () => {
	await gate.stop();
	await fixture.engine.stop();
	await search.stop();
});

const QUESTION = [{ role: "user" as const, content: "Say hello in one short sentence." }];

test("the default model is the built-in one; it answers, and its real tokens are billed", async () => {
	const before = await gate.balance();
	const answer = await client.chat.completions.create({
		model: "default",
		messages: QUESTION,
		max_completion_tokens: 24,
		seed: 7,
		temperature: 0,
	});
	expect(answer.model).toBe("smollm2-135m-instruct");
	expect(answer.choices[0]?.message.content?.length).toBeGreaterThan(0);
	const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = answer.usage ?? {};
	expect(prompt).toBeGreaterThan(5);
	expect(completion).toBeGreaterThan(0);
	expect(before - (await gate.balance())).toBe(prompt * 50 + completion * 100);
});

test("streamed it says the same at temperature 0, and ends with its usage", async () => {
	const options = { model: "default", messages: QUESTION, max_completion_tokens: 24, seed: 7, temperature: 0 } as const;
	const whole = await client.chat.completions.create(options);
	const stream = await client.chat.completions.create({ ...options, stream: true, stream_options: { include_usage: true } });
	let said = "";
	let usage: OpenAI.CompletionUsage | null | undefined;
	for await (const chunk of stream) {
		said += chunk.choices[0]?.delta.content ?? "";
		usage = chunk.usage ?? usage;
	}
	expect(said).toBe(whole.choices[0]?.message.content ?? "");
	expect(usage).toMatchObject({ completion_tokens: whole.usage?.completion_tokens });
});

test("responses and messages say the same as chat, whole and streamed", async () => {
	const asked = { model: "default", temperature: 0 } as const;
	const whole = await client.chat.completions.create({ ...asked, messages: QUESTION, max_completion_tokens: 24 });
	const said = whole.choices[0]?.message.content ?? "";
	const response = { ...asked, input: QUESTION, max_output_tokens: 24 };
	expect((await client.responses.create(response)).output_text).toBe(said);
	const streamed = await client.responses.stream(response).finalResponse();
	expect([streamed.output_text, streamed.usage?.output_tokens]).toEqual([said, whole.usage?.completion_tokens]);
	const claude = new Anthropic({ baseURL: `${gate.url}/api`, apiKey: gate.key, maxRetries: 0 });
	const message = { ...asked, messages: QUESTION, max_tokens: 24 };
	expect((await claude.messages.create(message)).content).toMatchObject([{ type: "text", text: said }]);
	expect(await claude.messages.stream(message).finalText()).toBe(said);
	const { input_tokens: counted } = await claude.messages.countTokens({ model: "default", messages: QUESTION });
	expect(counted).toBeGreaterThan(5);
});

test("a response schema is kept to", async () => {
	const schema = {
		type: "object",
		properties: { answer: { type: "string", maxLength: 20 }, sure: { type: "boolean" } },
		required: ["answer", "sure"],
		additionalProperties: false,
	};
	const answer = await client.chat.completions.create({
		model: "default",
		messages: QUESTION,
		max_completion_tokens: 60,
		response_format: { type: "json_schema", json_schema: { name: "reply", schema } },
	});
	const value = JSON.parse(answer.choices[0]?.message.content ?? "") as { answer: unknown; sure: unknown };
	expect(typeof value.answer).toBe("string");
	expect(typeof value.sure).toBe("boolean");
});

test("the same question again, answered from the prompt's memory, is answered again", async () => {
	for (let count = 0; count < 4; count++) {
		const answer = await client.chat.completions.create({ model: "default", messages: QUESTION, max_completion_tokens: 12 });
		expect(answer.choices[0]?.message.content?.length).toBeGreaterThan(0);
		expect(answer.usage?.completion_tokens).toBeGreaterThan(1);
	}
});

test("functions are refused, since the model does not call them", async () => {
	const asked = client.chat.completions.create({
		model: "default",
		messages: QUESTION,
		tools: [{ type: "function", function: { name: "f", parameters: {} } }],
	});
	const error = await asked.catch((thrown: unknown) => thrown);
	expect(error).toMatchObject({ status: 400, param: "tools", code: "INVALID_REQUEST" });
});

test("a prompt over the context has OpenAI's code", async () => {
	const asked = client.chat.completions.create({
		model: "default",
		messages: [{ role: "user", content: "word ".repeat(3_000) }],
	});
	const error = await asked.catch((thrown: unknown) => thrown);
	expect(error).toMatchObject({ status: 400, code: "context_length_exceeded" });
});

test("a caller that leaves a stream stops the model and pays for what was written", async () => {
	const before = (await gate.posts()).length;
	const stream = await client.chat.completions.create({
		model: "default",
		messages: [{ role: "user", content: "Tell me a very long story about a dragon." }],
		stream: true,
		max_completion_tokens: 800,
		temperature: 0,
	});
	for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
	await until(async () => (await gate.posts()).length > before, "the post");
	const post = (await gate.posts()).at(-1);
	expect(post?.status).toBe(499);
	expect(post?.completion_tokens).toBeGreaterThan(0);
	expect(post?.completion_tokens).toBeLessThan(400);
	expect((await gate.audit()).findings).toEqual([]);
});

test("a file and a search are read to the built-in model, and paid with its tokens", async () => {
	const file_data = `data:text/plain;base64,${Buffer.from("Tea is a plant. <|im_end|>").toString("base64")}`;
	const content = [
		{ type: "file", file: { filename: "a.txt", file_data } },
		{ type: "text", text: "Say tea." },
	];
	const fee = 10_000_000;
	const asked = { model: "default", max_completion_tokens: 4, temperature: 0, seed: 7 };
	// Whether it wants to search is its own affair: what it says and what is found is paid.
	for (const [mode, messages] of [
		["on", [{ role: "user", content }]],
		["auto", QUESTION],
	] as const) {
		const [before, searches] = [await gate.balance(), search.requests.length];
		const answer = await gate.chat({ ...asked, messages, service_parameters: { enable_web_search: mode } });
		const { usage, service_parameters: echo } = (await answer.json()) as OpenAI.ChatCompletion & {
			service_parameters: { web_search_citations: { url: string }[] };
		};
		const searched = search.requests.length - searches;
		if (mode === "on") expect(searched).toBe(1);
		expect(echo.web_search_citations.map(({ url }) => url)).toEqual(searched === 1 ? ["https://tea.example/0"] : []);
		const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = usage ?? {};
		expect(prompt).toBeGreaterThan(100);
		expect(before - (await gate.balance())).toBe(prompt * 50 + completion * 100 + searched * fee);
	}
});
