/** Models whose servers do less than OpenAI's: thoughts in the text, and answers that miss the format. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { TOOL_SPEECH } from "../support/chat-answers.ts";
import { type ChatCompletion, deltaText, type ErrorBody, eventsOf, HELLO, pricedModel, priceOf } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			limits: { failedRequests: 0 },
			models: {
				entries: {
					thinker: pricedModel(["scripted"], { thinkBlocks: "inline" }),
					opened: pricedModel(["scripted"], { thinkBlocks: "opened" }),
					weak: pricedModel(["scripted"], { responseFormat: "repair", thinkBlocks: "inline" }),
					eager: pricedModel(["scripted"], {
						capabilities: { supportsReasoningEffort: true, defaultReasoningEffort: "low" },
					}),
				},
			},
		},
	});
});
afterEach(() => upstream.reset());
afterAll(async () => {
	await until(() => gate.gateway.budgets.holdsOpen === 0, "no open hold");
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

const ask = (body: object) => gate.chat({ model: "weak", messages: HELLO, ...body });
const completion = async (body: object) => (await (await ask(body)).json()) as ChatCompletion;
const lastPost = async () => (await gate.posts()).at(-1);

describe("a model that writes its thoughts into its text", () => {
	const content = ["<thi", "nk>2 and", " 2</", "think>\n\n", "4", "."];

	test("has them as reasoning_content, whole and in a stream, and its usage stays", async () => {
		upstream.always({ speech: { content } });
		const whole = await completion({ model: "thinker" });
		expect(whole.choices[0]?.message).toMatchObject({ content: "4.", reasoning_content: "2 and 2" });
		expect(whole.usage.completion_tokens).toBe(content.length);
		const answer = await ask({ model: "thinker", stream: true, stream_options: { include_usage: true } });
		const { chunks, done } = eventsOf(await answer.text());
		expect(done).toBe(true);
		expect(deltaText(chunks)).toBe("4.");
		expect(chunks.map((chunk) => chunk.choices[0]?.delta.reasoning_content ?? "").join("")).toBe("2 and 2");
		expect(chunks.at(-1)?.usage?.completion_tokens).toBe(content.length);
		expect((await lastPost())?.price).toBe(priceOf(whole.usage));
	});

	test("loses them where they are stripped, and byte by byte they are the same", async () => {
		upstream.always({ speech: { content }, byteByByte: true, framing: "crlf" });
		for (const service_parameters of [{ strip_thinking_response: true }, { disable_thinking: true }]) {
			const { chunks } = eventsOf(await (await ask({ model: "thinker", stream: true, service_parameters })).text());
			expect(deltaText(chunks)).toBe("4.");
			expect(chunks.some((chunk) => chunk.choices[0]?.delta.reasoning_content !== undefined)).toBe(false);
		}
	});

	test("may begin inside a thought, but not where it was asked not to think", async () => {
		upstream.always({ speech: { content: ["hm</think>", "4"] } });
		const message = (await completion({ model: "opened" })).choices[0]?.message;
		expect(message).toMatchObject({ content: "4", reasoning_content: "hm" });
		upstream.always({ speech: { content: ["4"] } });
		const off = await completion({ model: "opened", reasoning: { enabled: false } });
		expect(off.choices[0]?.message).toMatchObject({ content: "4" });
	});
});

describe("a model whose answers are checked here", () => {
	const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
	const response_format = { type: "json_schema", json_schema: { name: "city", schema } };
	const good = { speech: { content: ['{"city":', '"Bern"}'] } };
	const bad = { speech: { content: ["It is ", "Bern"] } };

	test("is told the schema in words, and a good answer goes through at the price of one call", async () => {
		upstream.next(good);
		const answer = await completion({ response_format });
		expect(answer.choices[0]?.message.content).toBe('{"city":"Bern"}');
		expect(upstream.requests).toHaveLength(1);
		const sent = upstream.requests[0];
		expect(sent?.complaints).toEqual([]);
		expect(sent?.body).not.toHaveProperty("response_format");
		const [system, user] = (sent?.body.messages ?? []) as { role: string; content: string }[];
		expect([system?.role, user]).toEqual(["system", HELLO[0]]);
		expect(system?.content).toContain(JSON.stringify(schema));
		expect((await lastPost())?.price).toBe(priceOf(answer.usage));
	});

	test("JSON within a fence, words or thoughts is an answer", async () => {
		const texts = ['```json\n{"city":"Bern"}\n```', 'Here it is: {"city":"Bern"} .', '<think>{"a"</think>{"city":"Bern"}'];
		for (const text of texts) {
			upstream.next({ speech: { content: [text] } });
			expect((await completion({ response_format })).choices[0]?.message.content).toBe('{"city":"Bern"}');
		}
		expect(upstream.requests).toHaveLength(texts.length);
	});

	test("one that misses is asked for again with its faults, and both are paid for", async () => {
		const wrong = { speech: { content: ['{"city":7}'] }, usage: { prompt_tokens: 30, completion_tokens: 5 } };
		upstream.next(wrong, { ...good, usage: { prompt_tokens: 50, completion_tokens: 6 } });
		const answer = await completion({ response_format });
		expect(answer.choices[0]?.message.content).toBe('{"city":"Bern"}');
		expect(answer.usage).toMatchObject({ prompt_tokens: 80, completion_tokens: 11, total_tokens: 91 });
		const messages = upstream.requests[1]?.body.messages as { role: string; content: string }[];
		expect(messages.slice(2).map(({ role }) => role)).toEqual(["assistant", "user"]);
		expect(messages[2]?.content).toBe('{"city":7}');
		expect(messages[3]?.content).toContain("/city: must be string");
		expect((await lastPost())?.price).toBe(priceOf({ prompt_tokens: 80, completion_tokens: 11 }));
		expect(Math.round(answer.cost.usd * 1e9)).toBe(priceOf(answer.usage));
	});

	test("calls of a server that tells no usage are counted, the second with the first's answer in its prompt", async () => {
		upstream.next({ ...bad, usage: "never" }, { ...good, usage: "never" });
		const both = (await completion({ response_format })).usage;
		upstream.next({ ...good, usage: "never" });
		const one = (await completion({ response_format })).usage;
		expect(both.completion_tokens).toBe(Math.ceil("It is Bern".length / 4) + one.completion_tokens);
		expect(both.prompt_tokens).toBeGreaterThan(2 * one.prompt_tokens + 20);
		expect((await gate.posts()).at(-2)?.price).toBe(priceOf(both));
	});

	test("one that misses twice is an error that no client repeats, and both are paid for", async () => {
		upstream.always({ ...bad, usage: { prompt_tokens: 10, completion_tokens: 4 } });
		const answer = await ask({ response_format });
		expect(answer.status).toBe(500);
		expect(answer.headers.get("x-should-retry")).toBe("false");
		expect(((await answer.json()) as ErrorBody).error).toMatchObject({ code: "INFERENCE_FAILED" });
		expect(upstream.requests).toHaveLength(2);
		expect((await lastPost())?.price).toBe(2 * priceOf({ prompt_tokens: 10, completion_tokens: 4 }));
	});

	test("where the second call fails the first is paid for", async () => {
		upstream.next({ ...bad, usage: { prompt_tokens: 10, completion_tokens: 4 } }, { status: 500 });
		expect((await ask({ response_format })).status).toBe(500);
		expect((await lastPost())?.price).toBe(priceOf({ prompt_tokens: 10, completion_tokens: 4 }));
		upstream.next({ status: 500 });
		const before = (await gate.posts()).length;
		expect((await ask({ response_format })).status).toBe(500);
		expect((await gate.posts()).length).toBe(before);
	});

	test("a stream waits for the check and comes whole, with the sum in its usage", async () => {
		upstream.next({ ...bad, usage: { prompt_tokens: 10, completion_tokens: 4 } }, good);
		const answer = await ask({ response_format, stream: true, stream_options: { include_usage: true } });
		expect(answer.status).toBe(200);
		const { chunks, done } = eventsOf(await answer.text());
		expect(done).toBe(true);
		expect(deltaText(chunks)).toBe('{"city":"Bern"}');
		expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
		expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
		expect(chunks.every(({ object, model }) => object === "chat.completion.chunk" && model === "weak")).toBe(true);
		expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 19, completion_tokens: 6, total_tokens: 25 });
		expect((await lastPost())?.price).toBe(priceOf({ prompt_tokens: 19, completion_tokens: 6 }));
		upstream.always(bad);
		const failed = await ask({ response_format, stream: true });
		expect([failed.status, failed.headers.get("content-type")]).toEqual([500, "application/json"]);
	});

	test("json_object is any object; calls of tools and cut answers are left as they are", async () => {
		upstream.next({ speech: { content: ["[1]"] } }, { speech: { content: ['{"a":1}'] } });
		const format = { response_format: { type: "json_object" } };
		expect((await completion(format)).choices[0]?.message.content).toBe('{"a":1}');
		upstream.next({ speech: { content: ['{"a":'], finishReason: "length" } });
		expect((await completion(format)).choices[0]).toMatchObject({ finish_reason: "length", message: { content: '{"a":' } });
		upstream.next({ speech: TOOL_SPEECH });
		const called = await ask({ ...format, stream: true, tools: [{ type: "function", function: { name: "lookup" } }] });
		const calls = eventsOf(await called.text()).chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
		expect(calls).toMatchObject([
			{ index: 0, id: "call_a", function: { name: "lookup" } },
			{ index: 1, id: "call_b", function: { name: "weather" } },
		]);
		const several = await ask({ ...format, n: 2 });
		expect([several.status, ((await several.json()) as ErrorBody).error.param]).toEqual([400, "n"]);
	});

	test("a caller that leaves during the second call pays the first and the prompt of the second", async () => {
		upstream.next({ ...bad, usage: { prompt_tokens: 10, completion_tokens: 4 } }, { hang: true });
		const leave = new AbortController();
		const call = gate.chat({ model: "weak", messages: HELLO, response_format }, { signal: leave.signal }).catch(() => null);
		await until(() => upstream.requests.length === 2, "the second call");
		const before = (await gate.posts()).length;
		leave.abort();
		await call;
		await upstream.requests[1]?.aborted;
		await until(async () => (await gate.posts()).length > before, "the post");
		const post = await lastPost();
		expect(post?.status).toBe(499);
		expect(post?.price).toBeGreaterThan(priceOf({ prompt_tokens: 10, completion_tokens: 4 }));
	});
});

test("a model's own reasoning effort is sent where nobody names one", async () => {
	await completion({ model: "eager" });
	expect(upstream.requests.at(-1)?.body.reasoning_effort).toBe("low");
	await completion({ model: "eager", reasoning_effort: "high" });
	expect(upstream.requests.at(-1)?.body.reasoning_effort).toBe("high");
	await completion({ model: "eager", service_parameters: { disable_thinking: true } });
	expect(upstream.requests.at(-1)?.body).not.toHaveProperty("reasoning_effort");
});

test("usage in another server's words comes in OpenAI's, whole and in a stream", async () => {
	upstream.always({ usage: { input_tokens: 20, output_tokens: 3, cache_read_input_tokens: 8 } });
	const expected = {
		prompt_tokens: 20,
		completion_tokens: 3,
		total_tokens: 23,
		prompt_tokens_details: { cached_tokens: 8 },
		completion_tokens_details: { reasoning_tokens: 0 },
	};
	expect((await completion({ model: "eager" })).usage).toMatchObject(expected);
	const answer = await ask({ model: "eager", stream: true, stream_options: { include_usage: true } });
	expect(eventsOf(await answer.text()).chunks.at(-1)?.usage).toMatchObject(expected);
});

test("the Responses API has thoughts and formats too", async () => {
	const create = async (body: object) => {
		const answer = await gate.call("POST", "/responses", { input: "hello", ...body });
		return (await answer.json()) as {
			output: { type: string; content?: { text: string }[] }[];
			usage: { output_tokens: number };
		};
	};
	upstream.always({ speech: { content: ["<thi", "nk>hm</think>4"] } });
	const thought = await create({ model: "thinker" });
	expect(thought.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
	expect(thought.output[1]?.content?.[0]?.text).toBe("4");
	upstream.always({});
	upstream.next({ speech: { content: ["no"] } }, { speech: { content: ['{"a":1}'] } });
	const formatted = await create({ model: "weak", text: { format: { type: "json_object" } } });
	expect(formatted.output.at(-1)?.content?.[0]?.text).toBe('{"a":1}');
	expect(formatted.usage.output_tokens).toBe(2);
});
