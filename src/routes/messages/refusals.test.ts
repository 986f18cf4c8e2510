import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO, pricedModel } from "../../../test/support/chat-bodies.ts";
import { type RunningGateway, startGateway, type TestKey, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from "../../../test/support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let poor: TestKey;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url, { health: { failures: 1_000, probeEveryMs: 60_000 } }) },
			limits: {
				failedRequests: 0,
				listRequestsPerMinute: 2,
				tiers: { one: { requestsPerMinute: 1, tokensPerMinute: 1_000_000 } },
			},
			models: {
				entries: {
					priced: pricedModel(["scripted"]),
					lacking: pricedModel(["scripted"], { capabilities: { supportsVision: false, supportsFunctionCalling: false } }),
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

interface Refusal {
	readonly type: string;
	readonly error: { readonly type: string; readonly message: string; readonly details: { readonly error_code: string } };
}

const BODY = { model: "priced", max_tokens: 50, messages: HELLO };
const user = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const TOOL = { name: "f", input_schema: { type: "object" } };

const BAD: readonly (readonly [string, object, string])[] = [
	["no maximum", { max_tokens: undefined }, "max_tokens: is required"],
	["a maximum of nothing", { max_tokens: 0 }, "max_tokens: must be >= 1"],
	["no messages", { messages: [] }, "messages: must not have fewer than 1 items"],
	[
		"blocks of hosted tools alone",
		{ messages: [{ role: "assistant", content: [{ type: "server_tool_use" }] }] },
		"nothing that goes",
	],
	["a thread", { thread: { type: "continue", previous_message_id: "msg_1" } }, "thread: nothing is kept between requests"],
	["a container", { container: { id: "container_1" } }, "container: nothing is kept between requests"],
	["messages that are none", { messages: "x" }, "messages: must be array"],
	[
		"a role of nobody",
		{ messages: [{ role: "tool", content: "x" }] },
		"messages[0].role: must be one of user, assistant, system",
	],
	["a block of no type", user({ type: "video" }), "messages[0].content[0].type: must be one of text, image, document"],
	["a block without its text", user({ type: "text" }), "messages[0].content[0].text: is required"],
	["a call in a user's message", user({ type: "tool_use", id: "a", name: "f", input: {} }), "has no tool_use block"],
	["an image in a system prompt", { system: [IMAGE] }, "system[0]"],
	["a result without its call", user({ type: "tool_result", tool_use_id: "a", content: "1" }), "matches no tool call"],
	["a file that only we could know", user({ type: "document", source: { type: "file", file_id: "f" } }), "no files are kept"],
	["a type that is none", user({ ...IMAGE, source: { ...IMAGE.source, media_type: "a b" } }), "source.media_type: must match"],
	["an image that is none", user(IMAGE), "messages[0].content"],
	["images for a model without eyes", { model: "lacking", ...user(IMAGE) }, "messages[0].content: lacking does not take images"],
	["tools for a model without them", { model: "lacking", tools: [TOOL] }, "tools: lacking does not call functions"],
	["a tool without its schema", { tools: [{ name: "f" }] }, "tools[0].input_schema: is required"],
	["a choice of no tool", { tools: [TOOL], tool_choice: { type: "tool", name: "g" } }, "tool_choice.name: names no function"],
	["five stop sequences", { stop_sequences: ["a", "b", "c", "d", "e"] }, "stop_sequences: must not have more than 4 items"],
	["a temperature out of range", { temperature: 3 }, "temperature: must be <= 2"],
];

test.each(BAD)("400: %s", async (_, part, text) => {
	const seen = upstream.requests.length;
	const answer = await gate.call("POST", "/messages", { ...BODY, ...part });
	const body = (await answer.json()) as Refusal;
	expect(body.error.message).toContain(text);
	expect([answer.status, body.type, body.error.type]).toEqual([400, "error", "invalid_request_error"]);
	expect(upstream.requests.length).toBe(seen);
});

/** Status, type, code, and how to get there. */
const REFUSED: readonly (readonly [
	number,
	string,
	string,
	{ part?: object; key?: "poor" | "none" | "wrong"; content?: string; upstream?: Behaviour },
])[] = [
	[401, "authentication_error", "AUTHENTICATION_FAILED", { key: "none" }],
	[401, "authentication_error", "AUTHENTICATION_FAILED", { key: "wrong" }],
	[402, "billing_error", "INSUFFICIENT_BALANCE", { key: "poor" }],
	[404, "not_found_error", "MODEL_NOT_FOUND", { part: { model: "nobody" } }],
	[400, "invalid_request_error", "INVALID_MODEL", { part: { model: "tts-kokoro" } }],
	[404, "not_found_error", "CHARACTER_NOT_FOUND", { part: { service_parameters: { character_slug: "nobody" } } }],
	[415, "invalid_request_error", "INVALID_CONTENT_TYPE", { content: "text/plain" }],
	[529, "overloaded_error", "MODEL_OVERLOADED", { upstream: { status: 429 } }],
	[500, "api_error", "INFERENCE_FAILED", { upstream: { status: 500 } }],
	[503, "api_error", "MODEL_OFFLINE", { upstream: { status: 404 } }],
];

test.each(REFUSED)("%d %s %s", async (status, type, code, { part, key, content = "application/json", upstream: behaviour }) => {
	if (behaviour !== undefined) upstream.next(behaviour);
	const before = await gate.balance();
	const secret = key === "poor" ? poor.secret : key === "wrong" ? "sk_wrong" : gate.key;
	const answer = await fetch(`${gate.url}/api/v1/messages`, {
		method: "POST",
		headers: { ...(key === "none" ? {} : { "x-api-key": secret }), "content-type": content },
		body: JSON.stringify({ ...BODY, ...part }),
	});
	const body = (await answer.json()) as Refusal;
	expect([answer.status, body.error.type, body.error.details.error_code]).toEqual([status, type, code]);
	expect(answer.headers.get("request-id")).toBe(answer.headers.get("x-request-id"));
	expect(await gate.balance()).toBe(before);
});

test("400: nested more deeply than it could be written again", async () => {
	const nest = "[".repeat(100_000) + "]".repeat(100_000);
	const block = `{"type":"tool_use","id":"a","name":"f","input":${nest}}`;
	const body = `{"model":"priced","max_tokens":5,"messages":[{"role":"assistant","content":[${block}]}]}`;
	const answer = await gate.call("POST", "/messages", body);
	expect([answer.status, ((await answer.json()) as Refusal).error.message]).toEqual([
		400,
		"JSON may be nested 512 levels deep at most",
	]);
});

test("a signature that nests more deeply than it could be written again is one of another origin", async () => {
	const nest = "[".repeat(100_000) + "]".repeat(100_000);
	const signature = `t1.${Buffer.from(`{"details":[${nest}],"signature":"x"}`).toString("base64url")}`;
	const content = [
		{ type: "thinking", thinking: "a", signature },
		{ type: "redacted_thinking", data: signature },
	];
	const messages = [...HELLO, { role: "assistant", content: [...content, { type: "text", text: "b" }] }, ...HELLO];
	expect((await gate.call("POST", "/messages", { ...BODY, model: "priced", messages })).status).toBe(200);
	const input = [
		{ role: "user", content: "q" },
		{ type: "reasoning", encrypted_content: signature },
		{ role: "user", content: "x" },
	];
	expect((await gate.call("POST", "/responses", { model: "priced", input })).status).toBe(200);
});

test("a call whose arguments nest more deeply than they could be written again has them as a text", async () => {
	const written = JSON.stringify("[".repeat(100_000) + "]".repeat(100_000));
	const call = `{"id":"a","type":"function","function":{"name":"f","arguments":${written}}}`;
	const raw = `{"object":"chat.completion","choices":[{"index":0,"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`;
	upstream.next({ raw, headers: { "content-type": "application/json" } });
	const answer = await gate.call("POST", "/messages", BODY);
	expect(answer.status).toBe(200);
	expect(await answer.json()).toMatchObject({
		content: [{ type: "tool_use", name: "f", input: JSON.parse(written) as string }],
		stop_reason: "tool_use",
	});
});

test("429 of a minute, 413 of a body, 405 of a method, 404 below", async () => {
	const typeOf = async (answer: Response) => [answer.status, ((await answer.json()) as Refusal).error.type];
	const ask = () => gate.call("POST", "/messages", { ...BODY, model: "limited" });
	expect((await ask()).status).toBe(200);
	expect(await typeOf(await ask())).toEqual([429, "rate_limit_error"]);
	const count = () => gate.call("POST", "/messages/count_tokens", { model: "priced", messages: HELLO });
	expect([(await count()).status, (await count()).status]).toEqual([200, 200]);
	expect(await typeOf(await count())).toEqual([429, "rate_limit_error"]);
	const large = JSON.stringify({ ...BODY, system: "x".repeat(72 * 1_048_576) });
	expect(await typeOf(await gate.call("POST", "/messages", large))).toEqual([413, "request_too_large"]);
	expect(await typeOf(await gate.call("GET", "/messages"))).toEqual([405, "invalid_request_error"]);
	expect(await typeOf(await gate.call("POST", "/messages/batches", {}))).toEqual([404, "not_found_error"]);
});
