import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { until } from "../../../test/support/until.ts";
import { EMBEDDED_CHAT_MODEL } from "./embedded-chat.ts";
import { answerOf, ask, refusalOf, TestEngine, textOf } from "./testing/engine.ts";

const running = new TestEngine();
const post = running.post.bind(running);
const model = EMBEDDED_CHAT_MODEL;
let client: OpenAI;
beforeAll(async () => {
	await running.start();
	client = new OpenAI({ baseURL: running.endpoint.url, apiKey: running.endpoint.key, maxRetries: 0 });
});
afterAll(() => running.engine.stop());

describe("a chat with the embedded model", () => {
	test("answers with text, a finish reason and exact usage", async () => {
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
	});

	test("streams the same answer, with usage where it is asked for", async () => {
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
	});

	test("goes on with a bare text, whole and in pieces", async () => {
		const request = { model, prompt: "The days of the week are Monday, Tuesday,", temperature: 0, max_tokens: 8 };
		const whole = await client.completions.create(request);
		expect(whole.choices[0]?.text).toContain("Wednesday");
		expect(whole.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 8 });
		let text = "";
		for await (const chunk of await client.completions.create({ ...request, stream: true })) text += chunk.choices[0]?.text ?? "";
		expect(text).toBe(whole.choices[0]?.text ?? "");
		const refused = await client.completions.create({ ...request, suffix: "Sunday" }).catch((error: unknown) => String(error));
		expect(refused).toContain("cannot fill a gap");
	});

	test("sends the first event long before the last", async () => {
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
	});

	test("is the same each time with a seed, and with temperature 0, whoever else asks", async () => {
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
	});

	test("ends before a stop string, also inside a stream", async () => {
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
	});

	test("keeps to max_completion_tokens, which wins over max_tokens", async () => {
		const answer = await client.chat.completions.create({
			model,
			messages: ask("Tell me a story."),
			max_completion_tokens: 3,
			max_tokens: 50,
		});
		expect(answer.usage?.completion_tokens).toBe(3);
		expect(answer.choices[0]?.finish_reason).toBe("length");
	});

	test("changes with penalties, top_k, top_p and min_p", async () => {
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
	});

	test("gives n choices and counts the prompt once", async () => {
		const request = { model, messages: ask("Name a colour."), max_tokens: 8, n: 3, temperature: 1.5, seed: 7 };
		const answer = await client.chat.completions.create(request);
		expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
		expect(new Set(answer.choices.map((choice) => choice.message.content)).size).toBeGreaterThan(1);
		expect(answer.usage?.prompt_tokens).toBeLessThan(60);
		const again = await client.chat.completions.create(request);
		expect(again.choices).toEqual(answer.choices);
	});

	test("hears the system message and the turns before", async () => {
		const turns = [
			{ role: "user" as const, content: "Say the word." },
			{ role: "assistant" as const, content: "Zebulon" },
			{ role: "user" as const, content: "Say the word." },
			{ role: "assistant" as const, content: "Zebulon" },
			{ role: "user" as const, content: "Say the word." },
		];
		const answer = await client.chat.completions.create({ model, messages: turns, temperature: 0, max_tokens: 30 });
		expect(textOf(answer)).toContain("Zebulon");
		const usage = async (messages: object[]) => (await answerOf(post({ messages, max_tokens: 1 }))).usage?.prompt_tokens ?? 0;
		const withDefault = await usage(ask("Hi"));
		expect(await usage([{ role: "system", content: "" }, ...ask("Hi")])).toBeLessThan(withDefault);
		expect(await usage([{ role: "developer", content: "Be brief." }, ...ask("Hi")])).toBeLessThan(withDefault);
	});

	test("never reads a caller's words as control tokens", async () => {
		const usage = async (content: string) =>
			(await answerOf(post({ messages: ask(content), max_tokens: 1 }))).usage?.prompt_tokens ?? 0;
		// One control token would count as one; plain text of 10 characters takes several.
		expect((await usage("a<|im_end|>")) - (await usage("a"))).toBeGreaterThan(3);
	});
});

describe("a request that cannot be answered", () => {
	test("because its messages pass the context, is OpenAI's own 400", async () => {
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
	});

	test("because it is malformed, is a 400 that names the field", async () => {
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
	});

	test("without the secret of this start is a 401", async () => {
		const bare = await fetch(`${running.endpoint.url}/models`);
		expect(bare.status).toBe(401);
		const listed = await client.models.list();
		expect(listed.data.map((each) => each.id)).toEqual([model]);
		expect(
			(await fetch(`${running.endpoint.url}/nothing`, { headers: { authorization: `Bearer ${running.endpoint.key}` } })).status,
		).toBe(404);
	});
});

describe("many requests at once", () => {
	const long = { messages: ask("Write a very long story."), max_tokens: 900, temperature: 0, stop_token_ids: [] };

	test("wait in line, and past the line are told to come back", async () => {
		const stop = new AbortController();
		const running = Array.from({ length: 5 }, () => post(long, { signal: stop.signal }).catch(() => null));
		let refused = new Response();
		await until(async () => {
			refused = await post({ ...long, max_tokens: 1 }, { signal: AbortSignal.timeout(500) }).catch(() => new Response());
			return refused.status === 429;
		});
		expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
		expect((await refusalOf(refused)).error.code).toBe("MODEL_OVERLOADED");
		stop.abort();
		await Promise.all(running);
		// Every lane is free again at once: who left took the work along.
		expect((await post({ messages: ask("Hi"), max_tokens: 1 })).status).toBe(200);
	});

	test("stop at once when their clients leave, streams too", async () => {
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
			const after = await Promise.all([1, 2].map(() => post({ messages: ask("Hi"), max_tokens: 1 })));
			expect(after.map(({ status }) => status)).toEqual([200, 200]);
		}
	});
});
