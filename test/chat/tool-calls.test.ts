/** Which call a fragment belongs to on /messages and /responses, where servers do not tell, and arguments that are no JSON. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { HELLO } from "../support/chat-bodies.ts";
import { type PricedGateway, startPricedGateway } from "../support/priced-gateway.ts";
import type { RunningGateway } from "../support/running-gateway.ts";
import type { ScriptedUpstream } from "../support/scripted-upstream.ts";

let fixture: PricedGateway;
let upstream: ScriptedUpstream;
let gate: RunningGateway;
beforeAll(async () => {
	fixture = await startPricedGateway();
	({ upstream, gate } = fixture);
});
beforeEach(() => upstream.reset());
afterAll(() => fixture.stop());

const event = (delta: object, finish_reason: string | null = null) =>
	`data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const calls = (...fragments: readonly object[]) =>
	fragments.map((fragment) => event({ tool_calls: [fragment] })).join("") + event({}, "tool_calls") + "data: [DONE]\n\n";
const whole = (fragments: readonly object[]) =>
	JSON.stringify({
		object: "chat.completion",
		choices: [{ index: 0, message: { role: "assistant", tool_calls: fragments }, finish_reason: "tool_calls" }],
	});
const fragment = (name: string | null, args: string, more: object = {}) => ({
	...more,
	function: { ...(name === null ? {} : { name }), arguments: args },
});

interface ReceivedCall {
	readonly id: string;
	readonly name: string;
	readonly written: string;
}

/** The calls that a stream of /messages tells. */
async function ofMessages(): Promise<ReceivedCall[]> {
	const answer = await gate.call("POST", "/messages", { model: "priced", messages: HELLO, max_tokens: 50, stream: true });
	const told: { id: string; name: string; written: string }[] = [];
	for (const data of dataOf(await answer.text())) {
		if (data.type === "content_block_start") told.push({ ...(data.content_block as { id: string; name: string }), written: "" });
		const last = told.at(-1);
		if (data.type === "content_block_delta" && last) last.written += (data.delta as { partial_json: string }).partial_json;
	}
	return told.map(({ id, name, written }) => ({ id, name, written }));
}

async function ofResponses(): Promise<ReceivedCall[]> {
	const answer = await gate.call("POST", "/responses", { model: "priced", input: "hello", stream: true });
	return dataOf(await answer.text())
		.filter(({ type }) => type === "response.output_item.done")
		.map(({ item }) => item as { call_id: string; name: string; arguments: string })
		.map((item) => ({ id: item.call_id, name: item.name, written: item.arguments }));
}

function dataOf(text: string): Record<string, unknown>[] {
	return text
		.split("\n")
		.filter((line) => line.startsWith("data: "))
		.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}

const TWO: readonly (readonly [string, readonly object[]])[] = [
	["the same index and no id", [fragment("a", '{"x":1}', { index: 0 }), fragment("b", '{"y":2}', { index: 0 })]],
	[
		"the same index and blank ids",
		[fragment("a", '{"x":1}', { index: 0, id: "" }), fragment("b", '{"y":2}', { index: 0, id: " " })],
	],
	["no index and no id", [fragment("a", '{"x":1}'), fragment("b", '{"y":2}')]],
	[
		"the same index, no id, in fragments",
		[
			fragment("a", '{"x"', { index: 0 }),
			fragment(null, ":1}", { index: 0 }),
			fragment("b", '{"y"', { index: 0 }),
			fragment(null, ":2}", { index: 0 }),
		],
	],
	[
		"the same index and no id, the name in each fragment",
		[
			fragment("a", '{"x"', { index: 0 }),
			fragment("a", ":1}", { index: 0 }),
			fragment("b", '{"y":', { index: 0 }),
			fragment("b", "2}", { index: 0 }),
		],
	],
	[
		"the same index and other ids",
		[fragment("a", '{"x":1}', { index: 0, id: "one" }), fragment("b", '{"y":2}', { index: 0, id: "two" })],
	],
];

describe.each([["messages", ofMessages] as const, ["responses", ofResponses] as const])("on /%s", (_route, told) => {
	test.each(TWO)("two calls with %s are two", async (_name, fragments) => {
		upstream.next({ raw: calls(...fragments), headers: { "content-type": "text/event-stream" } });
		const found = await told();
		expect(found.map(({ name, written }) => [name, written])).toEqual([
			["a", '{"x":1}'],
			["b", '{"y":2}'],
		]);
		expect(new Set(found.map(({ id }) => id)).size).toBe(2);
		expect(found.every(({ id }) => id.trim() !== "")).toBe(true);
	});

	test("two calls of one function with the same index and no id are two, where the first is whole", async () => {
		const fragments = [fragment("a", '{"x":1}', { index: 0 }), fragment("a", '{"x":2}', { index: 0 })];
		upstream.next({ raw: calls(...fragments), headers: { "content-type": "text/event-stream" } });
		expect((await told()).map(({ written }) => written)).toEqual(['{"x":1}', '{"x":2}']);
	});

	test("an id in every fragment, without an index, is one call", async () => {
		const fragments = [fragment("a", '{"x"', { id: "one" }), fragment(null, ":1}", { id: "one" })];
		upstream.next({ raw: calls(...fragments), headers: { "content-type": "text/event-stream" } });
		expect(await told()).toEqual([{ id: "one", name: "a", written: '{"x":1}' }]);
	});

	test.each(["x=1", '{"x":', "[1]", '"text"'])("arguments that are no object come as they are: %p", async (written) => {
		upstream.next({
			raw: calls(fragment("a", written, { index: 0, id: "one" })),
			headers: { "content-type": "text/event-stream" },
		});
		expect(await told()).toEqual([{ id: "one", name: "a", written }]);
	});
});

test.each([
	["x=1", "x=1"],
	['{"x":', '{"x":'],
	["[1]", [1]],
	['{"x":1}', { x: 1 }],
	["", {}],
])("whole arguments on /messages: %p", async (written, input) => {
	upstream.next({ raw: whole([fragment("a", written, { id: "one" })]) });
	const answer = await gate.call("POST", "/messages", { model: "priced", messages: HELLO, max_tokens: 50 });
	expect(await answer.json()).toMatchObject({ content: [{ type: "tool_use", id: "one", name: "a", input }] });
});

test.each(["x=1", '{"x":'])("whole arguments on /responses: %p", async (written) => {
	upstream.next({ raw: whole([fragment("a", written, { id: "one" })]) });
	const answer = await gate.call("POST", "/responses", { model: "priced", input: "hello" });
	expect(await answer.json()).toMatchObject({
		output: [{ type: "function_call", call_id: "one", name: "a", arguments: written }],
	});
});

test("blank ids of a whole answer are none, and each call has its own", async () => {
	upstream.next({ raw: whole([fragment("a", "{}", { id: "" }), fragment("b", "{}", { id: " " })]) });
	const answer = await gate.call("POST", "/messages", { model: "priced", messages: HELLO, max_tokens: 50 });
	const { content } = (await answer.json()) as { content: { id: string }[] };
	expect(new Set(content.map(({ id }) => id)).size).toBe(2);
	expect(content.every(({ id }) => id.startsWith("toolu_"))).toBe(true);
});
