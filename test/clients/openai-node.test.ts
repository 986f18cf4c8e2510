/** The `openai` package as it is published, against a running gateway. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { APIError } from "openai";
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
let client: OpenAI;

const messages = [{ role: "user" as const, content: "hello" }];
const TOOLS: OpenAI.ChatCompletionTool[] = ["lookup", "weather"].map((name) => ({
	type: "function",
	function: { name, parameters: { type: "object", properties: {} } },
}));
const FUNCTIONS = [
	{ id: "call_a", name: "lookup", arguments: { q: "café é" } },
	{ id: "call_b", name: "weather", arguments: { city: "Zürich" } },
];

beforeAll(async () => {
	fixture = await startClientGateway();
	client = new OpenAI({ baseURL: fixture.baseUrl, apiKey: fixture.key, maxRetries: 0 });
});
afterAll(() => fixture.stop());

test("a chat: text, finish reason, usage, request id", async () => {
	const { data, request_id } = await client.chat.completions.create({ model: "talk", messages }).withResponse();
	expect(data.choices[0]?.message.content).toBe("Hello, world!");
	expect(data.choices[0]?.finish_reason).toBe("stop");
	expect(data.model).toBe("talk");
	expect(data.id).toStartWith("chatcmpl-");
	expect(data.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 });
	expect(request_id).toMatch(/^[0-9A-Za-z]{32}$/);
});

test("a stream: deltas in order, usage in the last chunk only where it was asked for", async () => {
	const texts: string[] = [];
	const usages: unknown[] = [];
	const stream = await client.chat.completions.create({
		model: "talk",
		messages,
		stream: true,
		stream_options: { include_usage: true },
	});
	for await (const chunk of stream) {
		texts.push(chunk.choices[0]?.delta.content ?? "");
		if (chunk.usage) usages.push([chunk.choices.length, chunk.usage.total_tokens]);
	}
	expect(texts.filter((text) => text !== "")).toEqual(["Hello", ", ", "world", "!"]);
	expect(usages).toEqual([[0, 13]]);
	for await (const chunk of await client.chat.completions.create({ model: "talk", messages, stream: true })) {
		expect(chunk.usage ?? null).toBeNull();
		expect(chunk.choices).toHaveLength(1);
	}
});

test("the client's own stream helper puts an answer together", async () => {
	const whole = await client.chat.completions.stream({ model: "talk", messages }).finalChatCompletion();
	expect(whole.choices[0]?.message.content).toBe("Hello, world!");
});

const called = (calls: readonly OpenAI.ChatCompletionMessageToolCall[] | undefined) =>
	calls?.map((call) =>
		call.type === "function" ? { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) } : call,
	);

test("two parallel calls come whole, streamed in fragments or not", async () => {
	const body = { model: "tools", messages, tools: TOOLS, parallel_tool_calls: true };
	const unary = await client.chat.completions.create(body);
	expect(unary.choices[0]?.finish_reason).toBe("tool_calls");
	expect(called(unary.choices[0]?.message.tool_calls)).toEqual(FUNCTIONS);
	const streamed = await client.chat.completions.stream(body).finalChatCompletion();
	expect(called(streamed.choices[0]?.message.tool_calls)).toEqual(FUNCTIONS);
	expect(streamed.choices[0]?.finish_reason).toBe("tool_calls");
});

test("a conversation with the calls' results goes back in", async () => {
	const first = await client.chat.completions.create({ model: "tools", messages, tools: TOOLS });
	const said = first.choices[0]?.message;
	if (said?.tool_calls === undefined) throw new Error("no calls");
	const results = said.tool_calls.map((call) => ({ role: "tool" as const, tool_call_id: call.id, content: "42" }));
	const next = await client.chat.completions.create({ model: "talk", messages: [...messages, said, ...results], tools: TOOLS });
	expect(next.choices[0]?.message.content).toBe("Hello, world!");
	expect(fixture.upstream.requests.at(-1)?.complaints).toEqual([]);
});

test("the client's own loop runs the tools until the model has its answer, whole and streamed", async () => {
	for (const stream of [false, true] as const) {
		const ran: unknown[] = [];
		const tool = (name: string) => ({
			type: "function" as const,
			function: {
				name,
				description: name,
				parameters: { type: "object", properties: {} },
				parse: JSON.parse,
				function: (input: unknown) => {
					ran.push([name, input]);
					return "42";
				},
			},
		});
		const runner = client.chat.completions.runTools({
			model: "loop",
			messages,
			tools: [tool("lookup"), tool("weather")],
			...(stream ? { stream } : {}),
		} as Parameters<typeof client.chat.completions.runTools>[0]);
		expect(await runner.finalContent()).toBe("Hello, world!");
		expect(ran).toEqual(FUNCTIONS.map(({ name, arguments: input }) => [name, input]));
	}
	expect(fixture.upstream.requests.at(-1)?.complaints).toEqual([]);
});

test("the stream helper tells text, calls and an object of a schema as they grow", async () => {
	const runner = client.chat.completions.stream({ model: "talk", messages });
	const deltas: string[] = [];
	runner.on("content.delta", ({ delta }) => deltas.push(delta));
	await runner.done();
	expect(deltas).toEqual(["Hello", ", ", "world", "!"]);
	const calls: unknown[] = [];
	const calling = client.chat.completions.stream({ model: "tools", messages, tools: TOOLS });
	calling.on("tool_calls.function.arguments.done", ({ name, arguments: text }) => calls.push([name, JSON.parse(text)]));
	await calling.done();
	expect(calls).toEqual(FUNCTIONS.map(({ name, arguments: input }) => [name, input]));
});

test("an object of a schema comes from a model whose server knows none, whole and streamed", async () => {
	const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
	const response_format = { type: "json_schema" as const, json_schema: { name: "place", strict: true, schema } };
	const body = { model: "mends", messages, response_format };
	const whole = await client.chat.completions.parse(body);
	expect(whole.choices[0]?.message.parsed).toEqual({ city: "Zürich" });
	expect(whole.usage).toMatchObject({ prompt_tokens: 18, completion_tokens: 3 });
	const streamed = await client.chat.completions.stream(body).finalChatCompletion();
	expect(streamed.choices[0]?.message.parsed).toEqual({ city: "Zürich" });
});

test("a JSON schema goes up as it was given and its answer comes down parsed", async () => {
	const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
	const response_format = { type: "json_schema" as const, json_schema: { name: "place", strict: true, schema } };
	const answer = await client.chat.completions.parse({ model: "schema", messages, response_format });
	expect(answer.choices[0]?.message.parsed).toEqual({ city: "Zürich" });
	expect(fixture.upstream.requests.at(-1)?.body.response_format).toEqual(response_format);
});

test("reasoning_content comes beside the text, whole and in deltas", async () => {
	for (const model of ["thinks", "inline"]) {
		const unary = await client.chat.completions.create({ model, messages });
		expect(unary.choices[0]?.message).toMatchObject({ content: "4", reasoning_content: "2 plus 2" });
		let thought = "";
		for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
			const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined;
			thought += delta?.reasoning_content ?? "";
		}
		expect(thought).toBe("2 plus 2");
	}
});

test("logprobs come whole and in chunks", async () => {
	const body = { model: "likely", messages, logprobs: true, top_logprobs: 2 };
	const unary = await client.chat.completions.create(body);
	expect(unary.choices[0]?.logprobs?.content?.map((token) => token.token)).toEqual(["Hello"]);
	expect(fixture.upstream.requests.at(-1)?.body).toMatchObject({ logprobs: true, top_logprobs: 2 });
	const tokens: string[] = [];
	for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
		tokens.push(...(chunk.choices[0]?.logprobs?.content ?? []).map((token) => token.token));
	expect(tokens).toEqual(["He", "llo"]);
});

test("two choices are told apart, whole and in a stream", async () => {
	const body = { model: "choices", messages, n: 2 };
	const unary = await client.chat.completions.create(body);
	expect(unary.choices.map((choice) => [choice.index, choice.message.content])).toEqual([
		[0, "Hello!"],
		[1, "Hello!"],
	]);
	const streamed = await client.chat.completions.stream(body).finalChatCompletion();
	expect(streamed.choices.map((choice) => choice.message.content)).toEqual(["Hello!", "Hello!"]);
});

test("models are listed, and one whose id has a slash and a colon is found", async () => {
	const ids: string[] = [];
	for await (const model of client.models.list()) ids.push(model.id);
	expect(ids).toContain(SLASHED);
	expect(ids).toContain("talk");
	expect((await client.models.retrieve(SLASHED)).id).toBe(SLASHED);
	const chat = await client.chat.completions.create({ model: `${SLASHED}:strip_thinking_response=true`, messages });
	expect(chat.model).toBe(SLASHED);
	expect(await seenOf(client.models.retrieve("org/nobody:1b"))).toMatchObject({ status: 404, code: "MODEL_NOT_FOUND" });
});

/** What the client throws. */
async function seenOf(promise: PromiseLike<unknown>): Promise<Seen> {
	try {
		await promise;
	} catch (error) {
		if (!(error instanceof APIError)) throw error;
		return { status: error.status, code: error.code, message: error.message, requestId: error.requestID };
	}
	throw new Error("the client saw no error");
}

function provoke(fault: Fault, stream: boolean): Promise<Seen> {
	const one = new OpenAI({ baseURL: fault.baseUrl, apiKey: fault.key, maxRetries: 0 });
	const text = "a".repeat(fault.promptBytes ?? 1);
	const content = fault.imageUrl === undefined ? text : [{ type: "image_url" as const, image_url: { url: fault.imageUrl } }];
	const body = {
		model: fault.model,
		messages: [{ role: "user" as const, content }],
		...(fault.temperature === undefined ? {} : { temperature: fault.temperature }),
	};
	return seenOf(one.chat.completions.create({ ...body, stream }, fault.headers ? { headers: { ...fault.headers } } : {}));
}

for (const stream of [false, true])
	test(`every error reaches the user with its status, code and text${stream ? ", also where a stream was asked for" : ""}`, async () => {
		for (const fault of fixture.faults) expect(comparable(fault, await provoke(fault, stream))).toEqual(expectedOf(fault));
	});

test("a gateway that is full says so, and its text reaches the user", async () => {
	const { status, message } = await provoke(fixture.crowded, false);
	expect([status, message.includes(fixture.crowded.text)]).toEqual([503, true]);
});

test("a gateway that is full says so with its code", async () => {
	expect(comparable(fixture.crowded, await provoke(fixture.crowded, false))).toEqual(expectedOf(fixture.crowded));
});

test("an error inside a stream is thrown after the text that came before it, without the upstream's own words", async () => {
	for (const model of ["error-in-stream", "cut-in-stream"]) {
		const texts: string[] = [];
		const seen = await seenOf(
			(async () => {
				for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
					texts.push(chunk.choices[0]?.delta.content ?? "");
			})(),
		);
		expect("Hello, ").toStartWith(texts.join(""));
		expect(seen).toMatchObject({ code: "INFERENCE_FAILED" });
		expect(seen.message).toContain("backend failed");
		expect(seen.message).not.toContain("account 12");
	}
});
