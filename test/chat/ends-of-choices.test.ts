/** Words on why a choice ended that are not OpenAI's: each route tells its own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chunksOf, completionOf, PLAIN_SPEECH, type Speech, TOOL_SPEECH } from "../support/chat-answers.ts";
import { type ChatCompletion, eventsOf, HELLO } from "../support/chat-bodies.ts";
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

/** The answer of an upstream that ends it with this word, whole or as a stream. */
function ending(word: string, speech: Speech, stream: boolean) {
	const put = (choice: object) =>
		"finish_reason" in choice && choice.finish_reason !== null ? { ...choice, finish_reason: word } : choice;
	const ended = (body: object) => ({ ...body, choices: (body as { choices: object[] }).choices.map(put) });
	if (!stream) return { raw: JSON.stringify(ended(completionOf(speech, "m"))), headers: { "content-type": "application/json" } };
	const events = chunksOf(speech, "m").map((chunk) => `data: ${JSON.stringify(ended(chunk))}\n\n`);
	return { raw: `${events.join("")}data: [DONE]\n\n`, headers: { "content-type": "text/event-stream" } };
}

const TOOLS = ["lookup", "weather"].map((name) => ({ name, parameters: { type: "object" } }));

const CASES: readonly (readonly [word: string, chat: string, messages: string, responses: string])[] = [
	["eos", "stop", "end_turn", "completed"],
	["end_turn", "stop", "end_turn", "completed"],
	["STOP", "stop", "end_turn", "completed"],
	["COMPLETE", "stop", "end_turn", "completed"],
	["stop_sequence", "stop", "end_turn", "completed"],
	["something new", "stop", "end_turn", "completed"],
	["max_tokens", "length", "max_tokens", "incomplete"],
	["MAX_TOKENS", "length", "max_tokens", "incomplete"],
	["model_length", "length", "max_tokens", "incomplete"],
	["abort", "length", "max_tokens", "incomplete"],
	["SAFETY", "content_filter", "refusal", "incomplete"],
	["content-filter", "content_filter", "refusal", "incomplete"],
	["refusal", "content_filter", "refusal", "incomplete"],
	["tool_use", "tool_calls", "tool_use", "completed"],
];

describe.each([false, true])("of a stream: %p,", (stream) => {
	test.each(CASES)("%s is %s on chat, %s on messages, %s on responses", async (word, chat, messages, responses) => {
		upstream.always(ending(word, word === "tool_use" ? TOOL_SPEECH : PLAIN_SPEECH, stream));
		const asked = { model: "priced", stream };
		const said = await gate.chat({
			...asked,
			messages: HELLO,
			tools: TOOLS.map((called) => ({ type: "function", function: called })),
		});
		const choices = stream
			? eventsOf(await said.text()).chunks.flatMap((chunk) => chunk.choices)
			: ((await said.json()) as ChatCompletion).choices;
		expect(choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null)).toEqual([chat as never]);
		const message = await gate.call("POST", "/messages", {
			...asked,
			max_tokens: 50,
			messages: HELLO,
			tools: TOOLS.map(({ name, parameters }) => ({ name, input_schema: parameters })),
		});
		expect(await message.text()).toContain(`"stop_reason":"${messages}"`);
		const response = await gate.call("POST", "/responses", {
			...asked,
			input: "hello",
			tools: TOOLS.map((called) => ({ type: "function", ...called })),
		});
		expect(await response.text()).toContain(`"status":"${responses}"`);
	});

	test.each(["error", "ERROR", "network_error"])("%s is a failure, which is charged as no answer", async (word) => {
		upstream.next(ending(word, PLAIN_SPEECH, stream));
		const before = await gate.balance();
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
		const text = await answer.text();
		expect(text).toContain("INFERENCE_FAILED");
		expect(text).not.toContain('finish_reason":"');
		if (!stream) expect([answer.status, await gate.balance()]).toEqual([500, before]);
		else expect(eventsOf(text)).toMatchObject({ done: false });
	});

	test("with an error in the choice, the error is told", async () => {
		const error = { code: 400, message: "temperature is too high" };
		const choice = {
			index: 0,
			finish_reason: "error",
			error,
			[stream ? "delta" : "message"]: { role: "assistant", content: "" },
		};
		const body = JSON.stringify({ object: stream ? "chat.completion.chunk" : "chat.completion", choices: [choice] });
		upstream.next({
			raw: stream ? `data: ${body}\n\ndata: [DONE]\n\n` : body,
			headers: { "content-type": stream ? "text/event-stream" : "application/json" },
		});
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream });
		expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(error.message)]);
	});

	test("of a bare text it is one of OpenAI's too", async () => {
		const choice = { index: 0, text: "hi", logprobs: null, finish_reason: "MAX_TOKENS" };
		const body = JSON.stringify({ id: "c", object: "text_completion", created: 1, model: "m", choices: [choice] });
		upstream.next({
			raw: stream ? `data: ${body}\n\ndata: [DONE]\n\n` : body,
			headers: { "content-type": stream ? "text/event-stream" : "application/json" },
		});
		const answer = await gate.call("POST", "/completions", { model: "priced", prompt: "hello", stream });
		expect(await answer.text()).toContain('"finish_reason":"length"');
	});
});
