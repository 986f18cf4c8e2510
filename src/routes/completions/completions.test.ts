import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { pricedModel, priceOf } from "../../../test/support/chat-bodies.ts";
import { chargedFor, type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../../../test/support/scripted-upstream.ts";
import { until } from "../../../test/support/until.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let client: OpenAI;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: {
				scripted: upstreamEntry(upstream.url),
				newer: { ...upstreamEntry(upstream.url), dialect: "openai" },
				provider: upstreamEntry("http://127.0.0.1:9", { provider: "anthropic", key: "sk-ant-test", discover: false }),
			},
			chat: { systemPrompt: "You are here to help." },
			models: {
				entries: {
					priced: pricedModel(["scripted"]),
					newer: pricedModel(["newer"]),
					provided: pricedModel(["provider"]),
					both: pricedModel(["provider", "scripted"]),
					short: pricedModel(["scripted"], { contextTokens: 50, maxCompletionTokens: 10 }),
				},
			},
		},
	});
	client = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
});
afterAll(async () => {
	await until(() => gate.gateway.budgets.holdsOpen === 0 && upstream.open === 0, "no open hold");
	expect(upstream.requests.flatMap(({ complaints }) => complaints)).toEqual([]);
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

const ask = (part: object = {}) => gate.call("POST", "/completions", { model: "priced", prompt: "def add(a, b):", ...part });
const sent = () => upstream.requests.at(-1)?.body ?? {};
const PRICE = priceOf({ prompt_tokens: 9, completion_tokens: 4 });

test("openai: a text goes on, whole, and costs what its tokens cost", async () => {
	const { price, post } = await chargedFor(gate, async () => {
		const { data, request_id } = await client.completions
			.create({ model: "priced", prompt: "def add(a, b):", suffix: "return c", max_tokens: 30, temperature: 0.2, stop: ["\n\n"] })
			.withResponse();
		expect(data).toMatchObject({
			id: `cmpl-${request_id}`,
			object: "text_completion",
			model: "priced",
			choices: [{ index: 0, text: "Hello, world!", finish_reason: "stop" }],
			usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
		});
	});
	expect([price, post?.status]).toEqual([PRICE, 200]);
	expect(upstream.requests.at(-1)?.path).toBe("/v1/completions");
	expect(sent()).toEqual({
		model: "scripted",
		prompt: "def add(a, b):",
		suffix: "return c",
		max_tokens: 30,
		temperature: 0.2,
		stop: ["\n\n"],
	});
});

test("openai: a stream says the same, in pieces, with its usage at the end", async () => {
	const { price } = await chargedFor(gate, async () => {
		const stream = await client.completions.create({
			model: "priced",
			prompt: ["def add(a, b):"],
			stream: true,
			stream_options: { include_usage: true },
		});
		let text = "";
		let usage: unknown = null;
		for await (const chunk of stream) {
			expect([chunk.object, chunk.model]).toEqual(["text_completion", "priced"]);
			text += chunk.choices[0]?.text ?? "";
			usage = chunk.usage ?? usage;
		}
		expect(text).toBe("Hello, world!");
		expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4 });
	});
	expect(price).toBe(PRICE);
	expect(sent()).toMatchObject({ prompt: "def add(a, b):", max_tokens: 16 });
	expect(await (await ask({ stream: true })).text()).toEndWith("data: [DONE]\n\n");
});

test("the maximum goes out under the one name that this form has, also to OpenAI", async () => {
	expect((await ask({ model: "newer", max_tokens: 5 })).status).toBe(200);
	expect(sent().max_tokens).toBe(5);
	expect((await ask({ max_tokens: -1 })).status).toBe(200);
	expect(sent().max_tokens).toBe(16);
});

test.each([
	{ max_completion_tokens: 90_000 },
	{ max_tokens: 5, max_completion_tokens: 90_000 },
	{ max_tokens: 5, messages: [], tools: [{}], tool_choice: "auto", reasoning_effort: "high", auto_max_new_tokens: true },
])("the maximum that goes out is the one that was held for: %j", async (part) => {
	expect((await ask(part)).status).toBe(200);
	expect(sent()).toEqual({ model: "scripted", prompt: "def add(a, b):", max_tokens: part.max_tokens ?? 16 });
});

test("what is dropped of a body is told, and no conversation goes beside the text", async () => {
	const answer = await ask({ best_of: 5, messages: [{ role: "user", content: "x" }], tools: [{}], service_parameters: {} });
	expect([answer.status, answer.headers.get("x-service-ignored")]).toEqual([200, "best_of"]);
	expect(Object.keys(sent()).sort()).toEqual(["max_tokens", "model", "prompt"]);
});

test("an upstream that tells no usage is counted, and one that breaks off is paid as far as it came", async () => {
	upstream.next({ usage: "never" }, { dieAfterChunks: 3 });
	const counted = await chargedFor(gate, async () => {
		expect(((await (await ask()).json()) as { usage: object }).usage).toMatchObject({ completion_tokens: 4 });
	});
	expect(counted.price).toBeGreaterThan(0);
	const broken = await chargedFor(gate, async () => {
		const text = await (await ask({ stream: true })).text();
		expect(text).toContain('"error"');
		expect(text).not.toContain("[DONE]");
	});
	expect(broken.price).toBeGreaterThan(0);
});

test("an upstream that has no such path is not taken for a broken one, and an answer without texts is none", async () => {
	upstream.next({ status: 404 });
	expect((await ask()).status).toBe(503);
	for (const choices of [[{ index: 0 }], []]) {
		const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
		upstream.next({ raw: JSON.stringify({ object: "text_completion", choices, usage }) });
		const { price } = await chargedFor(gate, async () => expect((await ask()).status).toBe(500));
		expect(price).toBe(0);
	}
	expect((await ask()).status).toBe(200);
});

test.each([false, true])("an answer of Ollama's own form, as of POST /api/generate, is a text (stream: %p)", async (stream) => {
	const lines = [
		{ model: "m", response: "Tuesday", done: false },
		{ model: "m", response: ", Wednesday", done: false },
		{ model: "m", response: "", done: true, done_reason: "length", context: [1, 2], prompt_eval_count: 9, eval_count: 4 },
	];
	const whole = { ...lines[2], response: "Tuesday, Wednesday" };
	const ndjson = { "content-type": "application/x-ndjson" };
	for (const raw of [lines.map((line) => JSON.stringify(line)).join("\n"), JSON.stringify(whole)]) {
		upstream.next({ raw, headers: ndjson });
		const { post } = await chargedFor(gate, async () => {
			const answer = await ask({ stream });
			expect(answer.status).toBe(200);
			const text = await answer.text();
			const events = stream ? text.split("\n\n").filter((event) => /^data: \{/.test(event)) : [`data: ${text}`];
			const bodies = events.map((event) => JSON.parse(event.slice(6)) as { choices: { text: string; finish_reason: unknown }[] });
			const choices = bodies.flatMap((body) => body.choices);
			expect(choices.map((choice) => choice.text).join("")).toBe("Tuesday, Wednesday");
			expect(choices.at(-1)?.finish_reason).toBe("length");
		});
		expect([post?.prompt_tokens, post?.completion_tokens]).toEqual([9, 4]);
	}
});

test("a model that only a provider has takes conversations alone; another upstream takes its place", async () => {
	const refused = await ask({ model: "provided" });
	expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("/chat/completions")]);
	expect((await ask({ model: "both" })).status).toBe(200);
});

test.each([
	[{ prompt: undefined }, "prompt: is required"],
	[{ prompt: "" }, "prompt"],
	[{ prompt: [] }, "prompt"],
	[{ prompt: ["a", "b"] }, "prompt"],
	[{ prompt: [1, 2, 3] }, "prompt"],
	[{ echo: true }, "echo: the prompt is not said again"],
	[{ n: 9 }, "n: must be <= 8"],
	[{ logprobs: true }, "logprobs: must be integer"],
	[{ Prompt: "x" }, "Prompt"],
	[{ Max_tokens: 5 }, "Max_tokens"],
	[{ model: "short", prompt: "many words ".repeat(500) }, "The model's context holds 50 tokens"],
])("%j is a 400 that says: %s", async (part, text) => {
	const seen = upstream.requests.length;
	const answer = await ask(part);
	expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(text)]);
	expect(upstream.requests.length).toBe(seen);
});
