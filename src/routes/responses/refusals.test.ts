import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ErrorBody, pricedModel } from "../../../test/support/chat-bodies.ts";
import { type RunningGateway, startGateway, type TestKey, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from "../../../test/support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let poor: TestKey;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	const lacking = { supportsVision: false, supportsFunctionCalling: false, supportsReasoningEffort: false };
	gate = await startGateway({
		config: {
			upstreams: {
				scripted: upstreamEntry(upstream.url, {
					health: { failures: 1_000, probeEveryMs: 60_000 },
					attestation: { sealed: true },
				}),
			},
			limits: { failedRequests: 0, tiers: { one: { requestsPerMinute: 1, tokensPerMinute: 1_000_000 } } },
			models: {
				entries: {
					priced: pricedModel(["scripted"]),
					lacking: pricedModel(["scripted"], { capabilities: lacking }),
					sealed: pricedModel(["scripted"], { capabilities: { supportsE2EE: true, supportsTeeAttestation: true } }),
					limited: pricedModel(["scripted"], { tier: "one" }),
				},
			},
		},
	});
	poor = await gate.newKey({ creditUsd: "0" });
});
afterAll(async () => {
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

const IMAGE = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
const FUNCTION = { type: "function", name: "f", parameters: {} };
const user = (content: unknown) => [{ role: "user", content }];

/** What is wrong, the field at fault as the caller named it, and a part of the text. */
const BAD: readonly (readonly [string, object, string, string])[] = [
	["no input", { input: undefined }, "input", "is required"],
	["input of another type", { input: 5 }, "input", "must be string or array"],
	["an empty input", { input: [] }, "input", "at least one item"],
	["items of which none is known", { input: [{ type: "video" }] }, "input", "at least one item"],
	["a free-form tool without a name", { tools: [{ type: "custom" }] }, "tools[0].name", "is required"],
	[
		"a namespace with a tool of no name",
		{ tools: [{ type: "namespace", name: "n", tools: [{ type: "function" }] }] },
		"tools[0].tools[0].name",
		"is required",
	],
	[
		"more tools than a model can use, in several lists",
		{
			tools: Array.from({ length: 2_000 }, (_, index) => ({ type: "function", name: `f${index}` })),
			input: [
				...user("x"),
				{ type: "additional_tools", tools: Array.from({ length: 49 }, (_, index) => ({ type: "custom", name: `c${index}` })) },
			],
		},
		"tools",
		"more than 2048 tools",
	],
	["a part of no type", { input: user([{ type: "input_video" }]) }, "input[0].content[0].type", "must be one of input_text"],
	["an item that only we could know", { input: [{ type: "item_reference", id: "rs_1" }] }, "input[0]", "send the item itself"],
	[
		"a file that only we could know",
		{ input: user([{ type: "input_file", file_id: "f" }]) },
		"input[0].content[0].file_id",
		"no files",
	],
	["a part without its content", { input: user([{ type: "input_image" }]) }, "input[0].content[0].image_url", "is required"],
	[
		"an image that a system message has",
		{ input: [{ role: "system", content: [IMAGE] }] },
		"input[0].content[0].type",
		"have text only",
	],
	[
		"an output without its call",
		{ input: [...user("x"), { type: "function_call_output", call_id: "a", output: "1" }] },
		"input[1].call_id",
		"matches no tool call",
	],
	["an earlier response", { previous_response_id: "resp_1" }, "previous_response_id", "nothing is kept"],
	["a conversation", { conversation: "conv_1" }, "conversation", "nothing is kept"],
	["a kept prompt", { prompt: { id: "pmpt_1" } }, "prompt", "no prompts are kept"],
	["store", { store: true }, "store", "nothing is kept"],
	["background", { background: true }, "background", "answers are not kept"],
	["no room for an answer", { max_output_tokens: 0 }, "max_output_tokens", "must be >= 1"],
	["a temperature out of range", { temperature: 2.5 }, "temperature", "must be <= 2"],
	["an unknown effort", { reasoning: { effort: "huge" } }, "reasoning.effort", "must be one of"],
	["a function without a name", { tools: [{ type: "function" }] }, "tools[0].name", "is required"],
	[
		"a choice of no function",
		{ tools: [FUNCTION], tool_choice: { type: "function", name: "g" } },
		"tool_choice.function.name",
		"names no",
	],
	["a schema without a name", { text: { format: { type: "json_schema", schema: {} } } }, "text.format.name", "is required"],
	["a model with sealed conversations", { model: "sealed" }, "model", "use /chat/completions"],
	[
		"images for a model without eyes",
		{ model: "lacking", input: user([IMAGE]) },
		"input[0].content[0].type",
		"does not take images",
	],
	["functions for a model without them", { model: "lacking", tools: [FUNCTION] }, "tools", "does not call functions"],
	["an effort for a model without it", { model: "lacking", reasoning: { effort: "low" } }, "reasoning.effort", "does not take"],
	["an image that is none", { input: user([IMAGE]) }, "input[0].content[0].image_url.url", "input[0].content[0]"],
	["X search", { tools: [{ type: "x_search" }] }, "tools", "no X search"],
];

test.each(BAD)("400: %s", async (_, part, param, text) => {
	const seen = upstream.requests.length;
	const answer = await gate.call("POST", "/responses", { model: "priced", input: "x", ...part });
	expect(answer.status).toBe(400);
	const { error } = (await answer.json()) as ErrorBody;
	expect(error).toMatchObject({ type: "invalid_request_error", param });
	expect(error.message).toContain(text);
	expect(upstream.requests.length).toBe(seen);
});

test("unknown fields, hosted tools and the fields of other servers are left out", async () => {
	const answer = await gate.call("POST", "/responses", {
		model: "priced",
		input: "x",
		seed: 7,
		stop: ["a"],
		n: 3,
		user: "me",
		anything: { a: 1 },
		tools: [{ type: "code_interpreter", container: {} }, FUNCTION, { type: "web_search" }],
		service_parameters: { strip_thinking_response: true, enable_web_search: "auto" },
	});
	expect(answer.status).toBe(200);
	const { service_parameters: echo } = (await answer.json()) as { service_parameters: Record<string, unknown> };
	expect(echo).toMatchObject({ strip_thinking_response: false, enable_web_search: "off" });
	const { model: _, messages: __, tools, ...rest } = upstream.requests.at(-1)?.body ?? {};
	expect(rest).toEqual({});
	expect(tools).toEqual([{ type: "function", function: { name: "f", parameters: {} } }]);
});

/** Forms of one field are told apart by their `type`: what another form has beside it is as unknown as any key. */
const BESIDE: readonly (readonly [string, object, string | null])[] = [
	[
		"a role on a call",
		{ input: [...user("x"), { type: "function_call", role: "user", call_id: "a", name: "f", arguments: "{}" }] },
		null,
	],
	["a role on a thought", { input: [{ type: "reasoning", role: "nobody", summary: [] }, ...user("x")] }, null],
	["a role on a search", { input: [{ type: "web_search_call", role: "user" }, ...user("x")] }, null],
	[
		"a function on a search",
		{
			tools: [
				{ type: "web_search", function: 5 },
				{ type: "file_search", name: 5 },
			],
		},
		null,
	],
	["a function that is none on a function", { tools: [{ ...FUNCTION, function: 5 }] }, null],
	["a name that is none on a function", { tools: [{ type: "function", name: 5, function: { name: "f" } }] }, null],
	["a mode on a hosted choice", { tool_choice: { type: "mcp", mode: "any" } }, null],
	["a function on a hosted choice", { tool_choice: { type: "mcp", function: 5 } }, null],
	["a name on a hosted choice", { tool_choice: { type: "mcp", name: "f" } }, null],
	["tools on a hosted choice", { tool_choice: { type: "file_search", tools: 5 } }, null],
	[
		"mode and tools on a chosen function",
		{ tools: [FUNCTION], tool_choice: { type: "function", name: "f", mode: "x", tools: 7 } },
		null,
	],
	[
		"a name that is none on a chosen function",
		{ tools: [FUNCTION], tool_choice: { type: "function", name: 5, function: { name: "f" } } },
		null,
	],
	["a file of a number in an output", output([{ type: "input_file", file_data: 5 }]), '[{"type":"input_file","file_data":5}]'],
	["a file of an object in an output", output([{ type: "input_file", file_url: {} }]), '[{"type":"input_file","file_url":{}}]'],
	[
		"a file's name of a number in an output",
		output([{ type: "input_file", file_data: "data:text/plain;base64,aGk=", filename: 5 }]),
		'[{"type":"input_file","file_data":"data:text/plain;base64,aGk=","filename":5}]',
	],
];

function output(value: unknown) {
	const call = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
	return { input: [...user("x"), call, { type: "function_call_output", call_id: "a", output: value }] };
}

test.each(BESIDE)("%s is left alone", async (_, part, told) => {
	const answer = await gate.call("POST", "/responses", { model: "priced", input: "x", ...part });
	expect([answer.status, upstream.requests.at(-1)?.complaints]).toEqual([200, []]);
	const { messages } = (upstream.requests.at(-1)?.body ?? {}) as { messages?: { content: unknown }[] };
	if (told !== null) expect(messages?.at(-1)?.content).toBe(told);
});

/** Status, code, and how to get there. */
const REFUSED: readonly (readonly [
	number,
	string,
	object,
	{ key?: "poor" | "none" | "wrong"; type?: string; upstream?: Behaviour },
])[] = [
	[401, "AUTHENTICATION_FAILED", {}, { key: "none" }],
	[401, "AUTHENTICATION_FAILED", {}, { key: "wrong" }],
	[402, "INSUFFICIENT_BALANCE", {}, { key: "poor" }],
	[404, "MODEL_NOT_FOUND", { model: "nobody" }, {}],
	[404, "CHARACTER_NOT_FOUND", { service_parameters: { character_slug: "nobody" } }, {}],
	[400, "INVALID_MODEL", { model: "tts-kokoro" }, {}],
	[415, "INVALID_CONTENT_TYPE", {}, { type: "text/plain" }],
	[429, "MODEL_OVERLOADED", {}, { upstream: { status: 429 } }],
	[500, "INFERENCE_FAILED", {}, { upstream: { status: 500 } }],
	[
		500,
		"INFERENCE_FAILED",
		{},
		{ upstream: { raw: '{"object":"chat.completion"}', headers: { "content-type": "application/json" } } },
	],
	[503, "MODEL_OFFLINE", {}, { upstream: { status: 404 } }],
];

test.each(REFUSED)("%d %s", async (status, code, part, { key, type = "application/json", upstream: behaviour }) => {
	if (behaviour !== undefined) upstream.next(behaviour);
	const before = await gate.balance();
	const secret = key === "poor" ? poor.secret : key === "wrong" ? "sk_wrong" : gate.key;
	const answer = await fetch(`${gate.url}/api/v1/responses`, {
		method: "POST",
		headers: { ...(key === "none" ? {} : { authorization: `Bearer ${secret}` }), "content-type": type },
		body: JSON.stringify({ model: "priced", input: "x", ...part }),
	});
	const body = (await answer.json()) as ErrorBody;
	expect([answer.status, body.code]).toEqual([status, code]);
	expect(body.error.message).toBeString();
	expect(await gate.balance()).toBe(before);
});

test("what the hold refuses is told in the names of this route", async () => {
	const key = await gate.newKey({ creditUsd: "0.001" });
	const ask = (part: object) =>
		gate.call("POST", "/responses", { model: "priced", input: "x", ...part }, { authorization: `Bearer ${key.secret}` });
	const dear = await ask({ max_output_tokens: 1000 });
	const { error } = (await dear.json()) as ErrorBody;
	expect([dear.status, error.param]).toEqual([402, "max_output_tokens"]);
	expect(error.message).toMatch(/max_output_tokens: \d+ would fit/);
});

test("400: nested more deeply than it could be written again; an answer that is, is a failed one", async () => {
	const nest = "[".repeat(100_000) + "]".repeat(100_000);
	for (const part of [
		`"input":[{"type":"function_call_output","call_id":"a","output":${nest}}]`,
		`"input":"x","anything":${nest}`,
	]) {
		const answer = await gate.call("POST", "/responses", `{"model":"priced",${part}}`);
		expect([answer.status, ((await answer.json()) as ErrorBody).error.message]).toEqual([
			400,
			"JSON may be nested 512 levels deep at most",
		]);
	}
	const before = await gate.balance();
	const raw = `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"a","reasoning_details":${nest}}}]}`;
	upstream.next({ raw, headers: { "content-type": "application/json" } });
	expect((await gate.call("POST", "/responses", { model: "priced", input: "x" })).status).toBe(500);
	const event = `{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":${nest}}]},"finish_reason":"stop"}]}`;
	upstream.next({ raw: `data: ${event}\n\ndata: [DONE]\n\n`, headers: { "content-type": "text/event-stream" } });
	const streamed = await gate.call("POST", "/responses", { model: "priced", input: "x", stream: true });
	expect([streamed.status, ((await streamed.json()) as ErrorBody).code]).toEqual([500, "INFERENCE_FAILED"]);
	expect(await gate.balance()).toBe(before);
});

test("429 of a minute, 413 of a body, 405 of a method", async () => {
	const ask = () => gate.call("POST", "/responses", { model: "limited", input: "x" });
	expect((await ask()).status).toBe(200);
	expect((await ask()).status).toBe(429);
	const large = await gate.call("POST", "/responses", `{"model":"priced","input":"${"x".repeat(72 * 1_048_576)}"}`);
	expect([large.status, ((await large.json()) as ErrorBody).error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
	const got = await gate.call("GET", "/responses");
	expect([got.status, got.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
	expect(((await got.json()) as ErrorBody).error.code).toBe("METHOD_NOT_ALLOWED");
});
