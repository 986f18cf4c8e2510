/** Usage that an upstream tells too low: what is charged and shown is what the upstream's provider bills. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventsOf, HELLO, pricedModel, priceOf } from "../support/chat-bodies.ts";
import { chargedFor, type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: { upstreams: { scripted: upstreamEntry(upstream.url) }, models: { entries: { priced: pricedModel(["scripted"]) } } },
	});
});
afterAll(async () => {
	expect((await gate.audit()).ok).toBe(true);
	await gate.stop();
	await upstream.stop();
});

interface Usage {
	readonly prompt_tokens: number;
	readonly completion_tokens: number;
	readonly total_tokens: number;
}

/** Price, shown usage and booked tokens of one chat. */
async function paid(
	body: object,
	stream: boolean,
): Promise<{ price: number; usage: Usage; booked: (number | null | undefined)[] }> {
	let usage: Usage | undefined;
	const { price, post } = await chargedFor(gate, async () => {
		const answer = await gate.chat({
			model: "priced",
			messages: HELLO,
			stream,
			stream_options: { include_usage: true },
			...body,
		});
		expect(answer.status).toBe(200);
		const text = await answer.text();
		usage = stream ? (eventsOf(text).chunks.at(-1)?.usage as Usage) : (JSON.parse(text) as { usage: Usage }).usage;
	});
	if (usage === undefined) throw new Error("no usage came");
	return { price, usage, booked: [post?.prompt_tokens, post?.completion_tokens] };
}

const THOUGHT = {
	prompt_tokens: 11,
	completion_tokens: 3,
	total_tokens: 114,
	completion_tokens_details: { reasoning_tokens: 100 },
};

test.each([false, true])("thinking that is in the total alone is paid as output, and shown (stream: %p)", async (stream) => {
	upstream.next({ usage: THOUGHT });
	const { price, usage, booked } = await paid({}, stream);
	expect(usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 103, total_tokens: 114 });
	expect(booked).toEqual([11, 103]);
	expect(price).toBe(priceOf(usage));
});

test.each([false, true])(
	"far more output than was asked for is not believed, in the total or by itself (stream: %p)",
	async (stream) => {
		for (const told of [
			{ prompt_tokens: 11, completion_tokens: 3, total_tokens: 100_000 },
			{ prompt_tokens: 11, completion_tokens: 99_989, total_tokens: 100_000 },
		]) {
			upstream.next({ usage: told });
			const { booked } = await paid({ max_tokens: 5 }, stream);
			expect(booked[1]).toBeLessThan(100);
		}
		upstream.next({ usage: { ...THOUGHT, total_tokens: 5_014, completion_tokens_details: { reasoning_tokens: 5_000 } } });
		expect((await paid({ max_tokens: 5 }, stream)).booked).toEqual([11, 5_003]);
	},
);

test.each([false, true])("a usage that agrees with its total stays as it was told (stream: %p)", async (stream) => {
	const told = { prompt_tokens: 11, completion_tokens: 103, total_tokens: 114, own: { field: 1 } };
	upstream.next({ usage: told });
	const { price, usage } = await paid({}, stream);
	expect(usage).toEqual(told);
	expect(price).toBe(priceOf(told));
});

test.each([false, true])("of several choices at least what was said is paid (stream: %p)", async (stream) => {
	const content = Array.from({ length: 40 }, (_, index) => `word${index} `);
	const ofOne = { prompt_tokens: 9, completion_tokens: 40, total_tokens: 49 };
	upstream.next({ speech: { content, choices: 2 }, usage: ofOne });
	const { price, usage, booked } = await paid({ n: 2 }, stream);
	// The tests' counter takes four characters for a token.
	const said = Math.ceil((2 * content.join("").length) / 4);
	expect(said).toBeGreaterThan(ofOne.completion_tokens);
	expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: said, total_tokens: 9 + said });
	expect(booked).toEqual([9, said]);
	expect(price).toBe(priceOf(usage));
});

test("of several choices a usage that tells more than was said is believed", async () => {
	const told = { prompt_tokens: 9, completion_tokens: 400, total_tokens: 409 };
	upstream.next({ speech: { content: ["a ", "b"], choices: 2 }, usage: told });
	const { usage } = await paid({ n: 2 }, false);
	expect(usage).toEqual(told);
});

test("a total that no context could hold is not believed: what was said is counted", async () => {
	upstream.next({ usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 9_000_000 } });
	const { usage, booked } = await paid({}, false);
	expect(usage.completion_tokens).toBeLessThan(100);
	expect(booked[1]).toBe(usage.completion_tokens);
});

const LONG = Array.from({ length: 200 }, (_, index) => `word${index} `);
/** The tests' counter takes four characters for a token. */
const SAID = Math.ceil(LONG.join("").length / 4);

test.each([false, true])(
	"an output that is told as nothing, or as less than it can be, is counted (stream: %p)",
	async (stream) => {
		for (const told of [
			{ prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 },
			{ prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 },
			{ prompt_tokens: 11, completion_tokens: null, total_tokens: null },
			{ prompt_tokens: 11, completion_tokens: "400", total_tokens: "411" },
			{ prompt_tokens: 11, completion_tokens: -400 },
			{ prompt_tokens: 11 },
		]) {
			upstream.next({ speech: { content: LONG }, usage: told });
			const { price, usage, booked } = await paid({}, stream);
			expect({ told, booked }).toEqual({ told, booked: [11, SAID] });
			expect(usage).toMatchObject({ prompt_tokens: 11, completion_tokens: SAID, total_tokens: 11 + SAID });
			expect(price).toBe(priceOf(usage));
		}
	},
);

test.each([false, true])(
	"a prompt that is told as nothing is counted, and a total alone is no usage (stream: %p)",
	async (stream) => {
		upstream.next({ speech: { content: LONG }, usage: { prompt_tokens: 0, completion_tokens: 500, total_tokens: 500 } });
		const { booked } = await paid({}, stream);
		expect(booked).toEqual([expect.any(Number), 500]);
		expect(booked[0]).toBeGreaterThan(0);
		upstream.next({ speech: { content: LONG }, usage: { total_tokens: 900 } });
		expect((await paid({}, stream)).booked).toEqual([booked[0], SAID]);
	},
);

test.each([false, true])(
	"thinking that is more than the output it should be a part of is beside it (stream: %p)",
	async (stream) => {
		upstream.next({ usage: { ...THOUGHT, total_tokens: 14 } });
		expect((await paid({}, stream)).booked).toEqual([11, 103]);
	},
);

test("without a usage thoughts, calls and speech are counted in whatever member they stand", async () => {
	const text = LONG.join("");
	for (const said of [
		{ content: null, function_call: { name: "", arguments: text } },
		{ content: "", reasoning_details: [{ type: "reasoning.text", text }] },
		{ content: "", reasoning: text, reasoning_details: [{ type: "reasoning.text", text }] },
		{ content: "", thinking: text },
		{ content: null, audio: { id: "a", transcript: text } },
		{ content: [{ type: "text", text }] },
	]) {
		const choices = [{ index: 0, message: { role: "assistant", ...said }, finish_reason: "stop" }];
		upstream.next({ raw: JSON.stringify({ id: "a", object: "chat.completion", created: 1, model: "m", choices }) });
		const { post } = await chargedFor(gate, () => gate.chat({ model: "priced", messages: HELLO }));
		expect({ said: Object.keys(said), tokens: post?.completion_tokens }).toEqual({ said: Object.keys(said), tokens: SAID });
	}
});
