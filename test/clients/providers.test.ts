/** The `openai` package and the Vercel AI SDK, as they are published, with models of providers behind the gateway. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import OpenAI, { APIError } from "openai";
import { CALLS, SCRIPTS, TALK } from "../support/providers/index.ts";
import { type ProviderServer, startProviderServer } from "../support/providers/server.ts";
import { errorPlay } from "../support/providers/upstream.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";

let providers: ProviderServer;
let gate: RunningGateway;
let openai: OpenAI;

beforeAll(async () => {
	providers = startProviderServer();
	gate = await startGateway({
		config: { upstreams: providers.upstreams, models: { entries: providers.models }, limits: { failedRequests: 0 } },
	});
	openai = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
});
afterAll(async () => {
	expect(providers.complaints).toEqual([]);
	await gate.stop();
	await providers.stop();
});

const messages = [{ role: "user" as const, content: "hello" }];
const parameters = { type: "object" as const, properties: { q: { type: "string" as const } }, required: ["q"] };
const TOOLS: OpenAI.ChatCompletionTool[] = [{ type: "function", function: { name: "lookup", parameters } }];
const ARGUMENTS = CALLS.calls.map(({ pieces }) => JSON.parse(pieces.join("")));
const said = TALK.text.join("");
const thought = TALK.thoughts.join("");
const sdk = (model: string) =>
	createOpenAICompatible({
		...{ name: "turnpike", baseURL: `${gate.url}/api/v1`, apiKey: gate.key },
		...{ includeUsage: true, supportsStructuredOutputs: true },
	})(model);

describe.each(SCRIPTS.map((script) => [script.provider, script] as const))("%s", (model, script) => {
	test("openai: a chat and a stream, thoughts apart, usage at the end", async () => {
		const whole = await openai.chat.completions.create({ model, messages });
		expect(whole.choices[0]?.message).toMatchObject({ role: "assistant", content: said, reasoning_content: thought });
		const stream = openai.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
		expect(await stream.finalContent()).toBe(said);
		expect((await stream.totalUsage()).total_tokens).toBe(TALK.usage.input + TALK.usage.output);
	});

	test("openai: tools are run by its own runner, and the answer comes after", async () => {
		const ran: unknown[] = [];
		providers.next(CALLS);
		const run = openai.chat.completions.runTools({
			model,
			messages,
			stream: true,
			tools: [
				{
					type: "function",
					function: {
						name: "lookup",
						description: "Looks up",
						parameters,
						parse: (text: string): object => JSON.parse(text),
						function: (input: unknown) => `${ran.push(input)}`,
					},
				},
			],
		});
		expect(await run.finalContent()).toBe(said);
		expect(ran).toEqual(ARGUMENTS);
	});

	test("ai: text, reasoning, finish reason and usage, whole and streamed", async () => {
		const whole = await generateText({ model: sdk(model), prompt: "hello", maxRetries: 0 });
		expect([whole.text, whole.reasoningText, whole.finishReason]).toEqual([said, thought, "stop"]);
		const stream = streamText({ model: sdk(model), prompt: "hello", maxRetries: 0 });
		await stream.consumeStream();
		expect([await stream.text, await stream.reasoningText, await stream.finishReason]).toEqual([said, thought, "stop"]);
		expect(await stream.usage).toMatchObject({
			inputTokens: TALK.usage.input,
			outputTokens: TALK.usage.output,
		});
	});

	test("ai: a loop of tools ends with the model's answer", async () => {
		const ran: unknown[] = [];
		const execute = async (input: unknown) => {
			ran.push(input);
			return "42";
		};
		const tools = { lookup: tool({ inputSchema: jsonSchema<Record<string, unknown>>(parameters), execute }) };
		providers.next(CALLS);
		const stream = streamText({ model: sdk(model), prompt: "hello", tools, stopWhen: stepCountIs(3), maxRetries: 0 });
		await stream.consumeStream();
		expect([await stream.text, ran]).toEqual([said, ARGUMENTS]);
		const [asked] = providers.requests.slice(-1);
		expect(JSON.stringify(asked?.body)).toContain("42");
	});

	test("ai: an output of a schema is an object", async () => {
		const schema = jsonSchema<{ city: string }>({
			...{ type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
		});
		const isTool = model === "anthropic" || model === "bedrock";
		const json = ['{"city":', '"Bonn"}'];
		const call = { id: "call_j", name: "json", pieces: json };
		providers.next({
			...TALK,
			thoughts: [],
			text: isTool ? [] : json,
			calls: isTool ? [call] : [],
			end: isTool ? "tool_calls" : "stop",
		});
		const { output } = await generateText({
			model: sdk(model),
			prompt: "where?",
			output: Output.object({ schema }),
			maxRetries: 0,
		});
		expect(output).toEqual({ city: "Bonn" });
	});

	test("openai: errors have their status, code and text", async () => {
		providers.next(errorPlay(script.errors.busy));
		const busy = await openai.chat.completions.create({ model, messages }).catch((error: unknown) => error);
		expect(busy).toBeInstanceOf(APIError);
		expect(busy).toMatchObject({ status: 429, code: "MODEL_OVERLOADED" });
		providers.next(errorPlay(script.errors.request));
		const refused = await openai.chat.completions.create({ model, messages, stream: true }).catch((error: unknown) => error);
		expect(refused).toMatchObject({ status: 400, code: "INVALID_REQUEST", type: "invalid_request_error" });
	});
});

test("openai: pieces of a call's arguments come as the provider sends them", async () => {
	providers.next(CALLS);
	const pieces: string[][] = [];
	for await (const chunk of await openai.chat.completions.create({ model: "anthropic", messages, tools: TOOLS, stream: true }))
		for (const { index, function: called } of chunk.choices[0]?.delta.tool_calls ?? [])
			if (called?.arguments) pieces[index] = [...(pieces[index] ?? []), called.arguments];
	expect(pieces).toEqual(CALLS.calls.map(({ pieces: sent }) => [...sent]));
});
