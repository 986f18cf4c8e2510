/** Bodies that clients send to /chat/completions in another form than its own: what the upstream gets. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO, pricedModel } from "../../../test/support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../../../test/support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { priced: pricedModel(["scripted"], { contextTokens: 1_000_000 }) } },
		},
	});
});
afterAll(async () => {
	expect(upstream.requests.flatMap(({ complaints }) => complaints)).toEqual([]);
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

async function sent(part: object): Promise<Record<string, unknown>> {
	const answer = await gate.chat({ model: "priced", ...part });
	expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
	return upstream.requests.at(-1)?.body ?? {};
}

async function refused(part: object): Promise<{ status: number; message: string }> {
	const answer = await gate.chat({ model: "priced", ...part });
	return { status: answer.status, message: ((await answer.json()) as { error: { message: string } }).error.message };
}

const PARAMETERS = { type: "object", properties: { path: { type: "string" } } };
const FLAT = { type: "function", name: "read_file", description: "Reads.", parameters: PARAMETERS, strict: false };
const NESTED = {
	type: "function",
	function: { name: "read_file", description: "Reads.", parameters: PARAMETERS, strict: false },
};
const FREE_FORM = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

test("flat tools and a flat choice are put under their type", async () => {
	const body = await sent({
		messages: HELLO,
		tools: [FLAT, NESTED, { type: "custom", name: "patch" }, { type: "custom", custom: { name: "note", description: "Notes." } }],
		tool_choice: { type: "function", name: "read_file" },
	});
	expect(body.tools).toMatchObject([
		NESTED,
		NESTED,
		{ type: "function", function: { name: "patch", parameters: FREE_FORM } },
		{ type: "function", function: { name: "note", description: "Notes.", parameters: FREE_FORM } },
	]);
	expect(body.tool_choice).toEqual({ type: "function", function: { name: "read_file" } });
});

test.each([
	[
		"a free-form one in chat's own form",
		{ type: "custom", custom: { name: "patch" } },
		{ type: "function", function: { name: "patch" } },
		["read_file", "patch"],
	],
	[
		"some of the tools",
		{
			type: "allowed_tools",
			allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "read_file" } }] },
		},
		"required",
		["read_file"],
	],
	[
		"some of the free-form tools",
		{ type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "custom", custom: { name: "patch" } }] } },
		"auto",
		["patch"],
	],
])("a choice of %s is one of functions", async (_name, tool_choice, told, left) => {
	const tools = [NESTED, { type: "custom", custom: { name: "patch" } }];
	const body = await sent({ messages: HELLO, tools, tool_choice });
	expect(body.tool_choice).toEqual(told);
	expect((body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual(left);
});

test("a choice of tools that are not there is refused", async () => {
	const tool_choice = {
		type: "allowed_tools",
		allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "other" } }] },
	};
	expect((await refused({ messages: HELLO, tools: [NESTED], tool_choice })).status).toBe(400);
});

test("a body of the Responses API is understood, with chat's own fields beside it", async () => {
	const body = await sent({
		instructions: "Be brief.",
		input: [
			{ role: "user", content: [{ type: "input_text", text: "read it" }] },
			{ type: "function_call", call_id: "c1", name: "read_file", arguments: '{"path":"a"}' },
			{ type: "function_call_output", call_id: "c1", output: "text of a" },
		],
		tools: [FLAT],
		max_output_tokens: 30,
		stop: ["END"],
		user: "somebody",
		reasoning: { effort: "low", summary: "auto" },
	});
	expect(body).toMatchObject({
		messages: [
			{ role: "system", content: "Be brief." },
			{ role: "user", content: [{ type: "text", text: "read it" }] },
			{ role: "assistant", tool_calls: [{ id: "c1", function: { name: "read_file", arguments: '{"path":"a"}' } }] },
			{ role: "tool", tool_call_id: "c1", content: "text of a" },
		],
		tools: [NESTED],
		max_tokens: 30,
		stop: ["END"],
	});
	for (const name of ["input", "instructions", "max_output_tokens", "user", "text"]) expect(body).not.toHaveProperty(name);
	const answer = await gate.chat({ model: "priced", input: "hello", stream: true, stream_options: { include_usage: true } });
	expect(await answer.text()).toContain('"object":"chat.completion.chunk"');
	expect(upstream.requests.at(-1)?.body?.messages).toEqual([{ role: "user", content: "hello" }]);
});

test("long texts of such a body reach the upstream whole", async () => {
	const text = Array.from({ length: 20_000 }, (_, index) => `line ${index} "é"`).join("\n");
	const body = await sent({ input: [{ role: "user", content: [{ type: "input_text", text }] }], tools: [FLAT] });
	expect(body.messages).toEqual([{ role: "user", content: [{ type: "text", text }] }]);
	const messages = [{ role: "user", content: text }];
	expect((await sent({ messages, tools: [FLAT] })).messages).toEqual(messages);
});

test.each([
	[{ input: "x", previous_response_id: "resp_1" }, "previous_response_id: nothing is kept"],
	[{ input: [{ type: "item_reference", id: "msg_1" }] }, "input[0]: nothing is kept"],
	[{ input: [{ role: "user", content: 5 }] }, "input[0]"],
	[{ input: [] }, "input: must have at least one item"],
	[{ input: 5 }, "messages: is required"],
	[{}, "messages: is required"],
	[{ messages: HELLO, tools: [{ type: "function", name: "" }] }, "tools[0]"],
	[{ messages: HELLO, tools: [{ type: "function", name: "f", parameters: "none" }] }, "tools[0]"],
	[{ messages: HELLO, tools: [{ type: "custom", custom: { name: "f", format: "grammar" } }] }, "tools[0]"],
	[{ messages: HELLO, tools: [{ type: "mcp", name: "f" }] }, "tools[0]"],
])("%j is refused and says where: %s", async (part, text) => {
	const { status, message } = await refused(part);
	expect(status).toBe(400);
	expect(message).toContain(text);
});

test("messages of the older functions become calls of tools", async () => {
	const { messages } = await sent({
		messages: [
			{ role: "user", content: "weather?" },
			{ role: "assistant", content: null, function_call: { name: "weather", arguments: "{}" } },
			{ role: "function", name: "weather", content: "sunny" },
			{ role: "function", name: "weather", content: "again" },
			{ role: "assistant", content: "It is.", function_call: null },
			{ role: "user", content: "thanks" },
		],
	});
	expect(messages).toEqual([
		{ role: "user", content: "weather?" },
		{
			role: "assistant",
			content: null,
			tool_calls: [{ id: "call_function_0", type: "function", function: { name: "weather", arguments: "{}" } }],
		},
		{ role: "tool", tool_call_id: "call_function_0", content: "sunny" },
		{ role: "user", name: "weather", content: "again" },
		{ role: "assistant", content: "It is.", function_call: null },
		{ role: "user", content: "thanks" },
	]);
});

const WEATHER = { name: "weather", description: "Tells it.", parameters: PARAMETERS };
const CALLED = { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } };
const CALL_CHUNKS = [
	{ role: "assistant", tool_calls: [CALLED] },
	{ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] },
	{ tool_calls: [{ index: 0, function: { arguments: '"a"}' } }] },
];

test.each([
	[{ name: "weather" }, { type: "function", function: { name: "weather" } }],
	["auto", "auto"],
	[undefined, undefined],
])("the older functions are tools, one call at a time, with the choice %j", async (choice, told) => {
	const body = await sent({ messages: HELLO, functions: [WEATHER], ...(choice === undefined ? {} : { function_call: choice }) });
	expect(body.tools).toEqual([{ type: "function", function: WEATHER }]);
	expect([body.tool_choice, body.parallel_tool_calls]).toEqual([told, false]);
	for (const name of ["functions", "function_call"]) expect(body).not.toHaveProperty(name);
});

test("whoever sent functions is told the call as one of a function, whole and as a stream", async () => {
	const call = { ...CALLED, function: { name: "weather", arguments: '{"path":"a"}' } };
	const choice = { index: 0, message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason: "tool_calls" };
	upstream.next({ raw: JSON.stringify({ object: "chat.completion", choices: [choice] }) });
	const whole = await (await gate.chat({ model: "priced", messages: HELLO, functions: [WEATHER] })).json();
	expect(whole).toMatchObject({
		choices: [{ message: { content: null, function_call: call.function }, finish_reason: "function_call" }],
	});
	expect(JSON.stringify(whole)).not.toContain("tool_calls");
	const events = [...CALL_CHUNKS.map((delta) => ({ delta, finish_reason: null })), { delta: {}, finish_reason: "tool_calls" }];
	const raw = events.map((event) => `data: ${JSON.stringify({ choices: [{ index: 0, ...event }] })}\n\n`).join("");
	upstream.next({ raw: `${raw}data: [DONE]\n\n`, headers: { "content-type": "text/event-stream" } });
	const text = await (await gate.chat({ model: "priced", messages: HELLO, functions: [WEATHER], stream: true })).text();
	const said = text.split("\n\n").flatMap((event) => (event.includes("function_call") ? [JSON.parse(event.slice(6))] : []));
	const calls = said.flatMap(({ choices }) => choices[0].delta.function_call ?? []) as { name?: string; arguments: string }[];
	expect([calls[0]?.name, calls.map((piece) => piece.arguments).join("")]).toEqual(["weather", '{"path":"a"}']);
	expect(text).toContain('"finish_reason":"function_call"');
	expect(text).not.toContain("tool_calls");
});

test("functions beside tools are tools like them; a choice of a function that is not there is named", async () => {
	const body = await sent({ messages: HELLO, tools: [NESTED], functions: [WEATHER], function_call: "none" });
	expect(body.tools).toEqual([NESTED, { type: "function", function: WEATHER }]);
	expect(body.tool_choice).toBe("none");
	const answer = await gate.chat({ model: "priced", messages: HELLO, function_call: "auto" });
	expect([answer.status, answer.headers.get("x-service-ignored")]).toEqual([200, "function_call"]);
	expect((await refused({ messages: HELLO, functions: [{ description: "no name" }] })).status).toBe(400);
});

test.each(["json_object", "json_schema"])("a schema beside the type %s is one of OpenAI's form", async (type) => {
	const { response_format: format } = await sent({ messages: HELLO, response_format: { type, schema: PARAMETERS } });
	expect(format).toEqual({ type: "json_schema", json_schema: { name: "response", schema: PARAMETERS } });
});

test.each([
	[
		"the flat form of the Responses API",
		{ type: "json_schema", name: "place", description: "Where.", schema: PARAMETERS, strict: true },
		{ name: "place", description: "Where.", schema: PARAMETERS, strict: true },
	],
	[
		"a json_schema of the type json_object",
		{ type: "json_object", json_schema: { name: "place", schema: PARAMETERS } },
		{ name: "place", schema: PARAMETERS },
	],
	[
		"a bare one of the type json_object",
		{ type: "json_object", json_schema: PARAMETERS },
		{ name: "response", schema: PARAMETERS },
	],
])("%s is a schema of OpenAI's form", async (_name, response_format, json_schema) => {
	const { response_format: format } = await sent({ messages: HELLO, response_format });
	expect(format).toEqual({ type: "json_schema", json_schema });
});

test("a format with other members is refused still", async () => {
	for (const format of [
		{ type: "json_object", schema: 5 },
		{ type: "text", schema: {} },
		{ type: "json_object", schema: {}, a: 1 },
	])
		expect((await refused({ messages: HELLO, response_format: format })).status).toBe(400);
});

test("answers of thoughts or of a refusal alone are taken back", async () => {
	const { messages } = await sent({
		messages: [
			...HELLO,
			{ role: "assistant", content: null, reasoning_content: "hm" },
			{ role: "user", content: "and?" },
			{ role: "assistant", content: null, refusal: "I will not." },
			{ role: "user", content: "please" },
		],
	});
	const said = (messages as { role: string; content: unknown }[]).filter(({ role }) => role === "assistant");
	expect(said.map(({ content }) => content)).toEqual(["", "I will not."]);
	expect((await refused({ messages: [...HELLO, { role: "assistant", content: null }] })).message).toContain("needs content");
});

test("null of an option is its absence, on every route of conversations", async () => {
	const options = { enable_web_search: null, include_service_system_prompt: null, character_slug: null };
	for (const [path, part] of [
		["/chat/completions", { messages: HELLO }],
		["/responses", { input: "hello" }],
		["/messages", { messages: HELLO, max_tokens: 20 }],
	] as const)
		expect((await gate.call("POST", path, { model: "priced", service_parameters: options, ...part })).status).toBe(200);
});

test("fields that say where a gateway behind us sends a request are dropped", async () => {
	const body = await sent({
		messages: HELLO,
		api_base: "http://evil.example",
		api_key: "k",
		user_config: { model_list: [] },
		extra_headers: { a: "b" },
		metadata_of_mine: 1,
	});
	expect(Object.keys(body).filter((name) => /^(api_|user_|extra_)/.test(name))).toEqual([]);
	expect(body.metadata_of_mine).toBe(1);
});
