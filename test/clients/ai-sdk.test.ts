/** The Vercel AI SDK with its OpenAI-compatible provider, as they are published, against a running gateway. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
	APICallError,
	generateText,
	jsonSchema,
	type ModelMessage,
	Output,
	stepCountIs,
	streamText,
	type ToolSet,
	tool,
} from "ai";
import {
	type ClientGateway,
	comparable,
	expectedOf,
	type Fault,
	type Seen,
	SLASHED,
	startClientGateway,
} from "./client-gateway.ts";

let fixture: ClientGateway;

beforeAll(async () => {
	fixture = await startClientGateway();
});
afterAll(() => fixture.stop());

interface ProviderPart {
	readonly baseUrl?: string;
	readonly key?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

const provider = ({ baseUrl = fixture.baseUrl, key = fixture.key, headers = {} }: ProviderPart = {}) =>
	createOpenAICompatible({
		name: "turnpike",
		baseURL: baseUrl,
		apiKey: key,
		headers: { ...headers },
		includeUsage: true,
		supportsStructuredOutputs: true,
	});
const call = (model: string) => ({ model: provider()(model), prompt: "hello", maxRetries: 0 });

const inputSchema = jsonSchema<Record<string, unknown>>({ type: "object", properties: {} });
const TOOLS: ToolSet = { lookup: { inputSchema }, weather: { inputSchema } };
const CALLS = [
	{ toolCallId: "call_a", toolName: "lookup", input: { q: "café é" } },
	{ toolCallId: "call_b", toolName: "weather", input: { city: "Zürich" } },
];
const callOf = ({ toolCallId, toolName, input }: { toolCallId: string; toolName: string; input: unknown }) => ({
	toolCallId,
	toolName,
	input,
});

test("a chat: text, finish reason, usage, request id", async () => {
	const answer = await generateText(call("talk"));
	expect(answer.text).toBe("Hello, world!");
	expect(answer.finishReason).toBe("stop");
	expect(answer.usage).toMatchObject({ inputTokens: 9, outputTokens: 4 });
	expect(answer.response.modelId).toBe("talk");
	expect(answer.response.headers?.["x-request-id"]).toMatch(/^[0-9A-Za-z]{32}$/);
});

test("a stream: deltas in order, and usage at its end", async () => {
	const stream = streamText(call("talk"));
	const texts: string[] = [];
	for await (const text of stream.textStream) texts.push(text);
	expect(texts).toEqual(["Hello", ", ", "world", "!"]);
	expect(await stream.usage).toMatchObject({ inputTokens: 9, outputTokens: 4 });
	expect(await stream.finishReason).toBe("stop");
});

test("two parallel calls come whole, streamed in fragments or not", async () => {
	const unary = await generateText({ ...call("tools"), tools: TOOLS });
	expect(unary.finishReason).toBe("tool-calls");
	expect(unary.toolCalls.map(callOf)).toEqual(CALLS);
	const streamed = streamText({ ...call("tools"), tools: TOOLS });
	await streamed.consumeStream();
	expect((await streamed.toolCalls).map(callOf)).toEqual(CALLS);
	expect(await streamed.finishReason).toBe("tool-calls");
});

test("the SDK's own loop runs the tools and sends their results back", async () => {
	const ran: unknown[] = [];
	const execute = (input: unknown) => {
		ran.push(input);
		return Promise.resolve("42");
	};
	const tools = { lookup: tool({ inputSchema, execute }), weather: tool({ inputSchema, execute }) };
	const answer = await generateText({ ...call("tools"), tools, stopWhen: stepCountIs(2) });
	expect(ran).toEqual([...CALLS, ...CALLS].map(({ input }) => input));
	expect(answer.steps).toHaveLength(2);
	const second = fixture.upstream.requests.at(-1);
	expect(second?.complaints).toEqual([]);
	const messages = (second?.body.messages ?? []) as { role: string }[];
	expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "tool"]);
});

test("the loop of a stream runs them too, and ends with the model's answer", async () => {
	const ran: unknown[] = [];
	const execute = (input: unknown) => {
		ran.push(input);
		return Promise.resolve("42");
	};
	const tools = { lookup: tool({ inputSchema, execute }), weather: tool({ inputSchema, execute }) };
	const stream = streamText({ ...call("loop"), tools, stopWhen: stepCountIs(5) });
	await stream.consumeStream();
	expect(ran).toEqual(CALLS.map(({ input }) => input));
	expect([await stream.text, (await stream.steps).length]).toEqual(["Hello, world!", 2]);
});

test("an output of a schema comes from a model whose server knows none, whole and streamed", async () => {
	const output = Output.object({
		schema: jsonSchema<{ city: string }>({
			type: "object",
			properties: { city: { type: "string" } },
			required: ["city"],
			additionalProperties: false,
		}),
	});
	expect((await generateText({ ...call("mends"), output })).output).toEqual({ city: "Zürich" });
	const stream = streamText({ ...call("mends"), output });
	await stream.consumeStream();
	expect(await stream.output).toEqual({ city: "Zürich" });
});

test("an output of a schema is asked for as json_schema and comes back as an object", async () => {
	const schema = jsonSchema<{ city: string }>({
		type: "object",
		properties: { city: { type: "string" } },
		required: ["city"],
		additionalProperties: false,
	});
	const answer = await generateText({ ...call("schema"), output: Output.object({ schema }) });
	expect(answer.output).toEqual({ city: "Zürich" });
	expect(fixture.upstream.requests.at(-1)?.body.response_format).toMatchObject({ type: "json_schema" });
	expect(fixture.upstream.requests.at(-1)?.complaints).toEqual([]);
});

test("reasoning_content comes as reasoning, whole and streamed", async () => {
	for (const model of ["thinks", "inline"]) {
		const unary = await generateText(call(model));
		expect([unary.reasoningText, unary.text]).toEqual(["2 plus 2", "4"]);
		const streamed = streamText(call(model));
		await streamed.consumeStream();
		expect([await streamed.reasoningText, await streamed.text]).toEqual(["2 plus 2", "4"]);
	}
});

test("a model whose id has a slash and a colon answers, with a suffix too", async () => {
	for (const id of [SLASHED, `${SLASHED}:disable_thinking=true`]) {
		const answer = await generateText(call(id));
		expect(answer.response.modelId).toBe(SLASHED);
	}
});

/** What the SDK tells of an error: the provider's parsed body has the code. */
function seen(error: unknown): Seen {
	if (!APICallError.isInstance(error)) throw error;
	const body = error.data as { error?: { code?: string } } | undefined;
	return {
		status: error.statusCode,
		code: body?.error?.code,
		message: error.message,
		requestId: error.responseHeaders?.["x-request-id"],
	};
}

function requestOf(fault: Fault) {
	const content = fault.imageUrl
		? [{ type: "file" as const, data: fault.imageUrl, mediaType: "image/png" }]
		: [{ type: "text" as const, text: "a".repeat(fault.promptBytes ?? 1) }];
	const messages: ModelMessage[] = [{ role: "user", content }];
	const { temperature, headers } = fault;
	const model = provider({ ...fault, ...(headers ? { headers } : {}) })(fault.model);
	return { model, messages, maxRetries: 0, ...(temperature === undefined ? {} : { temperature }) };
}

async function provoke(fault: Fault): Promise<Seen> {
	return generateText(requestOf(fault)).then(
		() => Promise.reject(new Error("the SDK saw no error")),
		(error) => seen(error),
	);
}

/** The error of a stream comes to a callback, and as a part. */
async function provokeStream(fault: Fault): Promise<Seen> {
	const errors: unknown[] = [];
	const stream = streamText({ ...requestOf(fault), onError: ({ error }) => void errors.push(error) });
	await stream.consumeStream();
	return seen(errors[0]);
}

for (const [kind, ask] of [
	["", provoke],
	[", also where a stream was asked for", provokeStream],
] as const)
	test(`every error reaches the user with its status, code and text${kind}`, async () => {
		for (const fault of fixture.faults) expect(comparable(fault, await ask(fault))).toEqual(expectedOf(fault));
	});

test("a gateway that is full says so with its code and text", async () => {
	expect(comparable(fixture.crowded, await provoke(fixture.crowded))).toEqual(expectedOf(fixture.crowded));
});

test("an error inside a stream is a part of its own after the text, without the upstream's own words", async () => {
	for (const model of ["error-in-stream", "cut-in-stream"]) {
		const parts: string[] = [];
		const stream = streamText({ ...call(model), onError: () => {} });
		for await (const part of stream.stream) {
			if (part.type === "text-delta") parts.push(part.text);
			if (part.type === "error") parts.push(`error: ${text(part.error)}`);
		}
		expect(parts.slice(0, 2)).toEqual(["Hello", ", "]);
		expect(parts).toHaveLength(3);
		expect(parts[2]).toContain("backend failed");
		expect(parts[2]).not.toContain("account 12");
		expect(await stream.finishReason).toBe("error");
	}
});

function text(error: unknown): string {
	return error instanceof Error ? error.message : JSON.stringify(error);
}
