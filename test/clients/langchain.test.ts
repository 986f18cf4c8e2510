/** LangChain's `ChatOpenAI` as it is published, against a running gateway. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ChatOpenAI } from "@langchain/openai";
import { type ClientGateway, SLASHED, startClientGateway } from "./client-gateway.ts";

let fixture: ClientGateway;

beforeAll(async () => {
	fixture = await startClientGateway();
});
afterAll(() => fixture.stop());

const model = (name: string, more: object = {}) =>
	new ChatOpenAI({ model: name, apiKey: fixture.key, maxRetries: 0, configuration: { baseURL: fixture.baseUrl }, ...more });
const QUESTION = [{ role: "user", content: "hello" }];
type Chunks = Awaited<ReturnType<ChatOpenAI["stream"]>>;
type Chunk = Awaited<ReturnType<ChatOpenAI["invoke"]>>;
const TOOLS = ["lookup", "weather"].map((name) => ({
	type: "function" as const,
	function: { name, description: name, parameters: { type: "object", properties: {} } },
}));
const CALLS = [
	{ id: "call_a", name: "lookup", args: { q: "café é" } },
	{ id: "call_b", name: "weather", args: { city: "Zürich" } },
];

async function streamed(chunks: Chunks): Promise<Chunk> {
	let whole: Chunk | undefined;
	for await (const chunk of chunks) whole = whole === undefined ? chunk : whole.concat(chunk);
	if (whole === undefined) throw new Error("the stream was empty");
	return whole;
}

test("a chat: text, usage and finish reason, whole and streamed", async () => {
	for (const name of ["talk", SLASHED]) {
		const answer = await model(name).invoke(QUESTION);
		expect(answer.text).toBe("Hello, world!");
		expect(answer.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 4, total_tokens: 13 });
		expect(answer.response_metadata.finish_reason).toBe("stop");
		const whole = await streamed(await model(name).stream(QUESTION));
		expect(whole.text).toBe("Hello, world!");
		expect(whole.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 4, total_tokens: 13 });
	}
});

test("two parallel calls come whole, streamed or not, and their results go back in", async () => {
	const bound = model("loop").bindTools(TOOLS);
	const answer = await bound.invoke(QUESTION);
	expect(answer.tool_calls).toMatchObject(CALLS);
	expect((await streamed(await bound.stream(QUESTION))).tool_calls).toMatchObject(CALLS);
	const results = CALLS.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "42" }));
	expect((await bound.invoke([...QUESTION, answer, ...results])).text).toBe("Hello, world!");
	expect(fixture.upstream.requests.at(-1)?.complaints).toEqual([]);
});

test("structured output comes back as an object, also from a model whose server knows no schema", async () => {
	const schema = {
		title: "place",
		type: "object",
		properties: { city: { type: "string" } },
		required: ["city"],
		additionalProperties: false,
	};
	for (const name of ["schema", "mends"])
		expect(await model(name).withStructuredOutput(schema, { method: "jsonSchema" }).invoke(QUESTION)).toEqual({ city: "Zürich" });
});

test("several questions at once, each with its answer", async () => {
	const answers = await model("talk").batch(Array.from({ length: 6 }, () => QUESTION));
	expect(answers.map(({ text }) => text)).toEqual(Array(6).fill("Hello, world!"));
});

test("an error reaches the user with its status and text", async () => {
	const failed = await model("nobody")
		.invoke(QUESTION)
		.catch((error: unknown) => error);
	expect(failed).toMatchObject({ status: 404 });
	expect((failed as Error).message).toContain('Unknown model "nobody"');
});
