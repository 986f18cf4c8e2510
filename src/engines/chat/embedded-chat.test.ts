import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import OpenAI from "openai";
import Schema from "typebox/schema";
import { AssetStore, loadManifest } from "../../assets/index.ts";
import { silentLog } from "../../telemetry/log.ts";
import { checkChatEngine } from "./check.ts";
import { EMBEDDED_CHAT_ASSET, EMBEDDED_CHAT_MODEL, EmbeddedChat, type Endpoint } from "./embedded-chat.ts";

const checkout = join(import.meta.dir, "../../..");
const manifest = loadManifest(join(checkout, "catalog/assets.json"));
/** Kept between runs: 98 MB come from a registry once for each machine. */
const assets = new AssetStore({ dir: join(checkout, ".cache/assets"), manifest, log: silentLog });
const config = { enabled: true, threads: 1, contextTokens: 1024, parallel: 2, queue: 3, maxMemoryMb: 2048, idleStopMs: 600_000 };
const engine = new EmbeddedChat({ config, assets, log: silentLog });
let endpoint: Endpoint;
let client: OpenAI;

beforeAll(async () => {
	await assets.ensure(EMBEDDED_CHAT_ASSET);
	endpoint = await engine.endpoint();
	client = new OpenAI({ baseURL: endpoint.url, apiKey: endpoint.key, maxRetries: 0 });
}, 600_000);
afterAll(() => engine.stop());

const model = EMBEDDED_CHAT_MODEL;
const ask = (content: string) => [{ role: "user" as const, content }];
const post = (body: unknown, init: RequestInit = {}): Promise<Response> =>
	fetch(`${endpoint.url}/chat/completions`, {
		method: "POST",
		headers: { authorization: `Bearer ${endpoint.key}`, "content-type": "application/json" },
		body: JSON.stringify(body),
		...init,
	});
interface Refusal {
	readonly code: string;
	readonly error: { readonly message: string; readonly code: string };
}
const answerOf = async (response: Promise<Response>) => (await (await response).json()) as OpenAI.ChatCompletion;
const refusalOf = async (response: Response) => (await response.json()) as Refusal;
const textOf = (answer: OpenAI.ChatCompletion): string => answer.choices[0]?.message.content ?? "";
const LIMIT = 60_000;

describe("a chat with the embedded model", () => {
	test(
		"answers with text, a finish reason and exact usage",
		async () => {
			const answer = await client.chat.completions.create({
				model,
				messages: ask("What is 2+2?"),
				temperature: 0,
				max_tokens: 40,
			});
			expect(textOf(answer)).toContain("4");
			expect(answer.choices[0]?.finish_reason).toBe("stop");
			// 21 tokens of the default system message and its frame, 12 of the question and its frame, 4 that begin the answer.
			expect(answer.usage?.prompt_tokens).toBe(37);
			expect(answer.usage?.completion_tokens).toBeGreaterThan(3);
			expect(answer.usage?.total_tokens).toBe(37 + (answer.usage?.completion_tokens ?? 0));
		},
		LIMIT,
	);

	test(
		"streams the same answer, with usage where it is asked for",
		async () => {
			const request = { model, messages: ask("Write a short poem about the sea."), temperature: 0, max_tokens: 40 };
			const whole = await client.chat.completions.create(request);
			const stream = await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
			const pieces: string[] = [];
			let usage: OpenAI.CompletionUsage | null | undefined;
			const finish: (string | null)[] = [];
			for await (const chunk of stream) {
				pieces.push(chunk.choices[0]?.delta.content ?? "");
				if (chunk.choices[0]) finish.push(chunk.choices[0].finish_reason);
				usage = chunk.usage;
			}
			expect(pieces.join("")).toBe(textOf(whole));
			expect(pieces.length).toBeGreaterThan(30);
			expect(usage).toEqual(whole.usage ?? null);
			expect(finish.filter(Boolean)).toEqual(["length"]);
			expect(whole.usage?.completion_tokens).toBe(40);
		},
		LIMIT,
	);

	test(
		"sends the first event long before the last",
		async () => {
			const response = await post({ messages: ask("Tell me a long story."), stream: true, temperature: 0, max_tokens: 60 });
			const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
			let reads = 0;
			let text = "";
			for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
				reads += 1;
				text += part.value;
			}
			expect(reads).toBeGreaterThan(20);
			expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
			expect(text).not.toContain('"usage"');
		},
		LIMIT,
	);

	test(
		"is the same each time with a seed, and with temperature 0, whoever else asks",
		async () => {
			const poem = { model, messages: ask("Write a poem about rain."), max_tokens: 30 };
			const seeded = { ...poem, temperature: 1.2, seed: 42 };
			const one = textOf(await client.chat.completions.create(seeded));
			const [two, other, cold] = await Promise.all([
				client.chat.completions.create(seeded),
				client.chat.completions.create({ ...seeded, seed: 43 }),
				client.chat.completions.create({ ...poem, temperature: 0 }),
			]);
			expect(textOf(two)).toBe(one);
			expect(textOf(other)).not.toBe(one);
			const again = await Promise.all([1, 2].map(() => client.chat.completions.create({ ...poem, temperature: 0 })));
			for (const answer of again) expect(textOf(answer)).toBe(textOf(cold));
		},
		LIMIT,
	);

	test(
		"ends before a stop string, also inside a stream",
		async () => {
			const request = { model, messages: ask("Count from 1 to 9, separated by commas."), temperature: 0, max_tokens: 60 };
			const free = textOf(await client.chat.completions.create(request));
			const stop = [free.slice(6, 9), "never written"];
			const answer = await client.chat.completions.create({ ...request, stop });
			expect(textOf(answer)).toBe(free.slice(0, free.indexOf(stop[0] as string)));
			expect(answer.choices[0]?.finish_reason).toBe("stop");
			let streamed = "";
			for await (const chunk of await client.chat.completions.create({ ...request, stop, stream: true }))
				streamed += chunk.choices[0]?.delta.content ?? "";
			expect(streamed).toBe(textOf(answer));
		},
		LIMIT,
	);

	test(
		"keeps to max_completion_tokens, which wins over max_tokens",
		async () => {
			const answer = await client.chat.completions.create({
				model,
				messages: ask("Tell me a story."),
				max_completion_tokens: 3,
				max_tokens: 50,
			});
			expect(answer.usage?.completion_tokens).toBe(3);
			expect(answer.choices[0]?.finish_reason).toBe("length");
		},
		LIMIT,
	);

	test(
		"changes with penalties, top_k, top_p and min_p",
		async () => {
			const request = { model, messages: ask("Say the word sea many times."), max_tokens: 40, temperature: 0 };
			const plain = textOf(await client.chat.completions.create(request));
			const penalised = { ...request, presence_penalty: 2, frequency_penalty: 2 };
			expect(textOf(await client.chat.completions.create(penalised))).not.toBe(plain);
			const repetition = await answerOf(post({ ...request, repetition_penalty: 1.9 }));
			expect(textOf(repetition)).not.toBe(plain);
			// One candidate is left: the same as no chance at all.
			for (const narrow of [{ top_k: 1 }, { top_p: 0 }, { min_p: 1 }]) {
				const answer = await answerOf(post({ ...request, temperature: 1.5, seed: 5, top_p: 1, ...narrow }));
				expect(textOf(answer)).toBe(plain);
			}
		},
		LIMIT,
	);

	test(
		"gives n choices and counts the prompt once",
		async () => {
			const request = { model, messages: ask("Name a colour."), max_tokens: 8, n: 3, temperature: 1.5, seed: 7 };
			const answer = await client.chat.completions.create(request);
			expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
			expect(new Set(answer.choices.map((choice) => choice.message.content)).size).toBeGreaterThan(1);
			expect(answer.usage?.prompt_tokens).toBeLessThan(60);
			const again = await client.chat.completions.create(request);
			expect(again.choices).toEqual(answer.choices);
		},
		LIMIT,
	);

	test(
		"hears the system message and the turns before",
		async () => {
			const turns = [
				{ role: "user" as const, content: "My name is Zebulon. Remember it." },
				{ role: "assistant" as const, content: "Hello Zebulon, I will remember your name." },
				{ role: "user" as const, content: "What is my name?" },
			];
			const answer = await client.chat.completions.create({ model, messages: turns, temperature: 0, max_tokens: 30 });
			expect(textOf(answer)).toContain("Zebulon");
			const usage = async (messages: object[]) => (await answerOf(post({ messages, max_tokens: 1 }))).usage?.prompt_tokens ?? 0;
			const withDefault = await usage(ask("Hi"));
			expect(await usage([{ role: "system", content: "" }, ...ask("Hi")])).toBeLessThan(withDefault);
			expect(await usage([{ role: "developer", content: "Be brief." }, ...ask("Hi")])).toBeLessThan(withDefault);
		},
		LIMIT,
	);

	test(
		"never reads a caller's words as control tokens",
		async () => {
			const usage = async (content: string) =>
				(await answerOf(post({ messages: ask(content), max_tokens: 1 }))).usage?.prompt_tokens ?? 0;
			// One control token would count as one; plain text of 10 characters takes several.
			expect((await usage("a<|im_end|>")) - (await usage("a"))).toBeGreaterThan(3);
		},
		LIMIT,
	);
});

describe("an answer in a format", () => {
	const schema = {
		type: "object",
		properties: {
			city: { type: "string" },
			population: { type: "integer" },
			tags: { type: "array", items: { type: "string", maxLength: 12 }, maxItems: 2 },
		},
		required: ["city", "population", "tags"],
		additionalProperties: false,
	};
	const messages = ask("Describe Paris as JSON with city, population and tags.");

	test.each([
		["wrapped", { name: "city", strict: true, schema }],
		["bare", schema],
	])(
		"keeps to a schema, %s",
		async (_, json_schema) => {
			const answer = await answerOf(
				post({ messages, temperature: 0, max_tokens: 200, response_format: { type: "json_schema", json_schema } }),
			);
			const value = JSON.parse(textOf(answer));
			expect(Object.keys(value)).toEqual(["city", "population", "tags"]);
			expect(typeof value.city).toBe("string");
			expect(Number.isInteger(value.population)).toBe(true);
			expect(value.tags.length).toBeLessThanOrEqual(2);
			expect(answer.choices[0]?.finish_reason).toBe("stop");
		},
		LIMIT,
	);

	test(
		"is a JSON object where that is all that is asked for",
		async () => {
			const answer = await answerOf(post({ messages, temperature: 0, max_tokens: 80, response_format: { type: "json_object" } }));
			if (answer.choices[0]?.finish_reason === "stop") expect(JSON.parse(textOf(answer))).toBeObject();
			expect(textOf(answer)).toStartWith("{");
		},
		LIMIT,
	);

	test.each([
		[{ type: "object", properties: { a: { type: "integer" }, b: { type: "boolean" } }, required: ["b"] }],
		[
			{
				type: "object",
				properties: { a: { type: "string", maxLength: 5 }, b: { type: "null" }, c: { enum: ["x", 1, null, { k: [1] }] } },
			},
		],
		[{ type: "array", items: { type: "number" }, minItems: 2, maxItems: 3 }],
		[{ type: "object", additionalProperties: { type: "integer" } }],
		[
			{
				anyOf: [
					{ type: "integer" },
					{ type: "object", properties: { when: { type: "string", format: "date-time" } }, required: ["when"] },
				],
			},
		],
		[
			{
				allOf: [
					{ type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
					{ properties: { b: { type: ["string", "null"], maxLength: 8 } }, required: ["b"] },
				],
			},
		],
		[
			{
				$ref: "#/$defs/node",
				$defs: {
					node: {
						type: "object",
						properties: { value: { type: "integer" }, next: { anyOf: [{ type: "null" }, { $ref: "#/$defs/node" }] } },
						required: ["value", "next"],
					},
				},
			},
		],
		[{ const: { fixed: ['"\\', "é\n"] } }],
		[{ type: "object", properties: {} }],
		[{}],
	])(
		"keeps to %j",
		async (json_schema) => {
			const format = { type: "json_schema", json_schema: { name: "x", schema: json_schema } };
			for (const seed of [1, 2]) {
				const answer = await answerOf(
					post({ messages: ask("Give an example as JSON."), seed, temperature: 1.2, max_tokens: 80, response_format: format }),
				);
				// Only an answer that was cut off may be less than the schema asks for.
				if (answer.choices[0]?.finish_reason !== "stop") continue;
				const value: unknown = JSON.parse(textOf(answer));
				expect(Schema.Check(json_schema, value), textOf(answer)).toBe(true);
			}
		},
		LIMIT,
	);

	test(
		"is a 400 where the grammar would never get anywhere",
		async () => {
			for (const json_schema of [
				{ $ref: "#/a", a: { $ref: "#/b" }, b: { $ref: "#/a" } },
				{ anyOf: [{ $ref: "#" }, { type: "string" }] },
			]) {
				const response = await post({ messages, response_format: { type: "json_schema", json_schema } });
				expect(response.status).toBe(400);
				expect((await refusalOf(response)).error.message).toContain("response_format");
			}
			expect((await post({ messages: ask("Hi"), max_tokens: 1 })).status).toBe(200);
		},
		LIMIT,
	);

	test(
		"is a 400 where the schema cannot be kept",
		async () => {
			const response = await post({
				messages,
				response_format: { type: "json_schema", json_schema: { not: { type: "string" } } },
			});
			expect(response.status).toBe(400);
			expect((await refusalOf(response)).error.message).toContain("not");
		},
		LIMIT,
	);
});

describe("a request that cannot be answered", () => {
	test(
		"because its messages pass the context, is OpenAI's own 400",
		async () => {
			for (const [content, extra] of [
				["word ".repeat(2_000), {}],
				["a".repeat(4_000_000), {}],
				["Hi", { max_tokens: 1_024 }],
			] as const) {
				const response = await post({ messages: ask(content), ...extra });
				expect(response.status).toBe(400);
				const body = await refusalOf(response);
				expect(body.error).toMatchObject({ type: "invalid_request_error", param: "messages", code: "context_length_exceeded" });
				expect(body.code).toBe("TOO_MANY_TOKENS");
			}
		},
		LIMIT,
	);

	test(
		"because it is malformed, is a 400 that names the field",
		async () => {
			const bad: [object, string][] = [
				[{}, "messages"],
				[{ messages: [] }, "messages"],
				[{ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] }, "messages"],
				[{ messages: ask("x"), temperature: 3 }, "temperature"],
				[{ messages: ask("x"), stop: ["1", "2", "3", "4", "5"] }, "stop"],
				[{ messages: ask("x"), tools: [{ type: "function", function: { name: "f" } }] }, "tools"],
			];
			for (const [body, field] of bad) {
				const response = await post(body);
				expect(response.status).toBe(400);
				expect((await refusalOf(response)).error.message).toContain(field);
			}
			expect((await post(null, { body: "{" })).status).toBe(400);
			expect((await post({ messages: ask("x"), temperature: null, stop: null, max_tokens: 2 })).status).toBe(200);
		},
		LIMIT,
	);

	test("without the secret of this start is a 401", async () => {
		const bare = await fetch(`${endpoint.url}/models`);
		expect(bare.status).toBe(401);
		const listed = await client.models.list();
		expect(listed.data.map((each) => each.id)).toEqual([model]);
		expect((await fetch(`${endpoint.url}/nothing`, { headers: { authorization: `Bearer ${endpoint.key}` } })).status).toBe(404);
	});
});

describe("many requests at once", () => {
	const long = { messages: ask("Write a very long story."), max_tokens: 900, temperature: 0, stop_token_ids: [] };

	test(
		"wait in line, and past the line are told to come back",
		async () => {
			const stop = new AbortController();
			const running = Array.from({ length: 5 }, () => post(long, { signal: stop.signal }).catch(() => null));
			let refused = new Response();
			for (let tries = 0; tries < 200 && refused.status !== 429; tries += 1)
				refused = await post({ ...long, max_tokens: 1 }, { signal: AbortSignal.timeout(50) }).catch(() => new Response());
			expect(refused.status).toBe(429);
			expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
			expect((await refusalOf(refused)).error.code).toBe("MODEL_OVERLOADED");
			stop.abort();
			await Promise.all(running);
			// Every lane is free again at once: who left took the work along.
			const startedAt = performance.now();
			expect((await post({ messages: ask("Hi"), max_tokens: 1 })).status).toBe(200);
			expect(performance.now() - startedAt).toBeLessThan(4_000);
		},
		LIMIT,
	);

	test(
		"stop at once when their clients leave, streams too",
		async () => {
			for (const stream of [false, true]) {
				const stop = new AbortController();
				const gone = Array.from({ length: 2 }, async () => {
					const response = await post({ ...long, stream }, { signal: stop.signal });
					if (stream) {
						const reader = response.body?.getReader();
						await reader?.read();
						stop.abort();
					}
					await response.text();
				});
				if (!stream) setTimeout(() => stop.abort(), 300);
				await Promise.allSettled(gone);
				const startedAt = performance.now();
				await Promise.all([1, 2].map(() => post({ messages: ask("Hi"), max_tokens: 1 })));
				expect(performance.now() - startedAt).toBeLessThan(4_000);
			}
		},
		LIMIT,
	);
});

describe("the engine's process", () => {
	test(
		"fails only its own requests when it is killed, and the next one starts it again",
		async () => {
			const running = post({ messages: ask("Tell me a very long story."), max_tokens: 900, stream: true });
			const text = running.then((response) => response.text());
			await running;
			const first = engine.pid ?? 0;
			process.kill(first, "SIGKILL");
			await expect(text).rejects.toThrow();
			// The client sees the broken socket a moment before the parent sees the exit.
			for (let tries = 0; tries < 500 && engine.pid === first; tries += 1) await Bun.sleep(10);
			endpoint = await engine.endpoint();
			expect(engine.pid).not.toBe(first);
			expect((await post({ messages: ask("Hi"), max_tokens: 1 })).status).toBe(200);
		},
		LIMIT,
	);

	test(
		"shows doctor that it works",
		async () => {
			expect(await checkChatEngine(engine)).toMatchObject({ ok: true });
		},
		LIMIT,
	);

	test(
		"stays within its memory and goes when it is told to, in the middle of an answer too",
		async () => {
			const { pid } = engine;
			const rssBytes = await engine.rssBytes();
			expect(rssBytes).toBeGreaterThan(50e6);
			expect(rssBytes).toBeLessThan(1_000e6);
			const running = await post({ messages: ask("Tell me a very long story."), max_tokens: 900, stream: true });
			const text = running.text();
			await engine.stop();
			await expect(text).rejects.toThrow();
			expect(engine.pid).toBeNull();
			expect(() => process.kill(pid ?? 0, 0)).toThrow();
			await expect(engine.endpoint()).rejects.toMatchObject({ code: "MODEL_OFFLINE" });
		},
		LIMIT,
	);
});
