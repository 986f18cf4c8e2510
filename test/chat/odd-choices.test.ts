/** Choices that lack a role, an index, a call's id or type, or have them in another form: clients get all of it, in JSON. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
let openai: OpenAI;
beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { priced: pricedModel(["scripted"]) } },
		},
	});
	openai = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
	expect((await gate.audit()).ok).toBe(true);
	await gate.stop();
	await upstream.stop();
});

const EVENTS = { "content-type": "text/event-stream" };
/** As Python's json.dumps writes it, too. */
const FORMS = {
	"as JavaScript writes JSON": (value: unknown) => JSON.stringify(value),
	"as Python writes JSON": (value: unknown) =>
		JSON.stringify(value, null, 1)
			.replace(/\n */g, " ")
			.replace(/([[{]) /g, "$1")
			.replace(/ ([\]}])/g, "$1"),
};
const sse = (choices: readonly object[], write: (value: unknown) => string) =>
	`${choices.map((choice) => `data: ${write({ choices: [choice] })}\n\n`).join("")}data: [DONE]\n\n`;
const TOOLS = ["f", "g"].map((name) => ({ type: "function" as const, function: { name, parameters: { type: "object" } } }));
const PRICED = { model: "priced", messages: HELLO as OpenAI.ChatCompletionMessageParam[], tools: TOOLS };

/** Pieces of one text, the end last; `told` is what a client must have read. */
const TEXTS: readonly (readonly [string, readonly object[], string])[] = [
	["no index", [..."abcd"].map((content) => ({ delta: { content } })), "abcd"],
	["no role", [..."abcd"].map((content) => ({ index: 0, delta: { content }, finish_reason: null })), "abcd"],
	["a blank role", [..."abcd"].map((content) => ({ index: 0, delta: { role: "", content }, finish_reason: null })), "abcd"],
	["a text in parts", [..."abcd"].map((text) => ({ index: 0, delta: { content: [{ type: "text", text }] } })), "abcd"],
	["the older form", [..."abcd"].map((text) => ({ index: 0, text, finish_reason: null })), "abcd"],
	["a message for each delta", [..."abcd"].map((content) => ({ index: 0, message: { content } })), "abcd"],
];

describe.each(Object.entries(FORMS))("%s", (_form, write) => {
	test.each(TEXTS)("a stream with %s is one that the openai package reads", async (_name, pieces, told) => {
		upstream.always({ raw: sse([...pieces, { delta: {}, finish_reason: "stop" }], write), headers: EVENTS });
		const { choices } = await openai.chat.completions.stream(PRICED).finalChatCompletion();
		expect(choices[0]).toMatchObject({ index: 0, finish_reason: "stop", message: { role: "assistant", content: told } });
	});
});

const F = { name: "f", arguments: '{"x":1}' };
const G = { name: "g", arguments: '{"y":2}' };
const pieces = (index: number | undefined, id: string | undefined, called: typeof F, more: object = {}) => [
	{ index, id, ...more, function: { name: called.name, arguments: called.arguments.slice(0, 3) } },
	...[...called.arguments.slice(3)].map((piece) => ({ index, function: { arguments: piece } })),
];
const CALLS: readonly (readonly [string, readonly object[]])[] = [
	["no type", [...pieces(0, "a", F), ...pieces(1, "b", G)]],
	["no ids", [...pieces(0, undefined, F), ...pieces(1, undefined, G)]],
	["blank ids", [...pieces(0, "", F), ...pieces(1, " ", G)]],
	["no index", [...pieces(undefined, "a", F), ...pieces(undefined, "b", G)]],
	["one index", [...pieces(0, "a", F), ...pieces(0, "b", G)]],
	["one index and no ids", [...pieces(0, undefined, F), ...pieces(0, undefined, G)]],
	["arguments as objects", [{ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } }, ...pieces(1, "b", G)]],
	[
		"id and name in every piece",
		[
			...[...F.arguments].map((piece) => ({ index: 0, id: "a", type: "function", function: { name: "f", arguments: piece } })),
			...pieces(1, "b", G),
		],
	],
];
const delta = (call: object) => ({ index: 0, delta: { tool_calls: [call] }, finish_reason: null });
const END = { index: 0, delta: {}, finish_reason: "tool_calls" };

test.each(CALLS)("calls of a stream with %s are two calls for the openai package", async (_name, fragments) => {
	upstream.always({ raw: sse([...fragments.map(delta), END], JSON.stringify), headers: EVENTS });
	const { choices } = await openai.chat.completions.stream(PRICED).finalChatCompletion();
	const calls = (choices[0]?.message.tool_calls ?? []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
	expect(calls.map((call) => [call.type, call.function.name, JSON.parse(call.function.arguments)])).toEqual([
		["function", "f", { x: 1 }],
		["function", "g", { y: 2 }],
	]);
	expect(new Set(calls.map(({ id }) => id.trim()).filter((id) => id !== "")).size).toBe(2);
});

test("what comes twice of a call goes out once: clients join it", async () => {
	upstream.always({ raw: sse([...(CALLS.at(-1)?.[1] ?? []).map(delta), END], JSON.stringify), headers: EVENTS });
	const told: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall[] = [];
	for await (const { choices } of await openai.chat.completions.create({ ...PRICED, stream: true }))
		told.push(...(choices[0]?.delta.tool_calls ?? []));
	expect(
		told
			.filter(({ index }) => index === 0)
			.map(({ id }) => id ?? "")
			.join(""),
	).toBe("a");
	expect(told.map((call) => call.function?.name ?? "").join("")).toBe("fg");
});

test("an index that is taken is given to nobody else, and calls without end go out as they came", async () => {
	const mixed = [1, 0, 1, 0].map((index, place) => ({ index, id: `c${place}`, function: F }));
	upstream.always({ raw: sse([...mixed.map(delta), END], JSON.stringify), headers: EVENTS });
	const { choices } = await openai.chat.completions.stream(PRICED).finalChatCompletion();
	expect(new Set(choices[0]?.message.tool_calls?.map(({ id }) => id))).toEqual(new Set(["c0", "c1", "c2", "c3"]));
	const endless = Array.from({ length: 3_000 }, (_, place) => ({
		index: 0,
		id: `c${place}`,
		function: { name: "f", arguments: "" },
	}));
	upstream.always({ raw: sse([...endless.map(delta), END], JSON.stringify), headers: EVENTS });
	const told: number[] = [];
	for await (const chunk of await openai.chat.completions.create({ ...PRICED, stream: true }))
		for (const { index } of chunk.choices[0]?.delta.tool_calls ?? []) told.push(index);
	expect([told.length, told[2_047], told[2_048]]).toEqual([3_000, 2_047, 0]);
});

const WHOLE: readonly (readonly [string, object, object])[] = [
	["no role", { index: 0, message: { content: "Hi" } }, { message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
	[
		"the older form",
		{ text: "Hi", finish_reason: "length" },
		{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "length" },
	],
	[
		"an end that is a number",
		{ message: { role: "assistant", content: "42" }, finish_reason: 1 },
		{ message: { content: "42" }, finish_reason: "stop" },
	],
	[
		"thoughts and texts in parts",
		{
			index: 0,
			message: {
				content: [
					{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
					{ type: "text", text: "Hi" },
				],
			},
		},
		{ message: { content: "Hi", reasoning_content: "Hm." } },
	],
	[
		"calls without types, texts and ids",
		{
			index: 0,
			message: { tool_calls: [{ function: { name: "f", arguments: { x: 1 } } }, { id: "", function: { name: "g" } }] },
			finish_reason: null,
		},
		{
			message: {
				content: null,
				tool_calls: [
					{ id: expect.stringMatching(/^call_.+0$/), type: "function", function: { name: "f", arguments: '{"x":1}' } },
					{ id: expect.stringMatching(/^call_.+1$/), type: "function", function: { name: "g", arguments: "" } },
				],
			},
			finish_reason: "tool_calls",
		},
	],
];

test.each(WHOLE)("a whole answer with %s gets what it lacks", async (_name, choice, told) => {
	upstream.always({ raw: JSON.stringify({ choices: [choice] }) });
	const { choices } = await openai.chat.completions.create(PRICED);
	expect(choices).toMatchObject([told]);
});

test("/messages and /responses read a text in the older form and thoughts in parts", async () => {
	const thought = [
		{ type: "thinking", thinking: "Hm." },
		{ type: "text", text: "Hi" },
	];
	for (const choice of [{ text: "Hi" }, { message: { content: thought } }]) {
		upstream.always({ raw: JSON.stringify({ choices: [choice] }) });
		const message = await (await gate.call("POST", "/messages", { model: "priced", max_tokens: 9, messages: HELLO })).json();
		const response = await (await gate.call("POST", "/responses", { model: "priced", input: "x" })).json();
		const thinks = "text" in choice ? [] : ["thinking"];
		expect((message as { content: { type: string }[] }).content.map(({ type }) => type)).toEqual([...thinks, "text"]);
		expect((response as { output: { type: string }[] }).output.at(-1)).toMatchObject({ content: [{ text: "Hi" }] });
	}
});
