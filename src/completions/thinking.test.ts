import { expect, test } from "bun:test";
import fc from "fast-check";
import { EventReader } from "../upstreams/chat/event-reader.ts";
import type { WholeAnswer } from "../upstreams/chat/port.ts";
import { LongStrings } from "../wire/index.ts";
import { type ThinkingPlan, ThinkingStream, thinkingPlan, withThinkingApart } from "./thinking.ts";

const TELL: ThinkingPlan = { reportThoughts: true, startsInside: false };

async function whole(message: object, plan: ThinkingPlan) {
	const body = { id: "chatcmpl-1", choices: [{ index: 0, message, finish_reason: "stop" }], usage: { total_tokens: 3 } };
	const bytes = new TextEncoder().encode(JSON.stringify(body));
	const answer: WholeAnswer = { upstream: "one", bytes, long: LongStrings.none, body, usage: null, retries: 0 };
	const told = await withThinkingApart(answer, plan);
	const parsed = JSON.parse(new TextDecoder().decode(told.bytes)) as typeof body;
	expect(parsed.usage).toEqual(body.usage);
	expect(told.body.choices).toEqual(parsed.choices);
	return parsed.choices[0]?.message;
}

/** What a client puts together from the deltas of an upstream's stream, whichever way its bytes are cut. */
function streamed(pieces: readonly (string | null)[], cuts: readonly number[], plan: ThinkingPlan) {
	const deltas = pieces.map((content) => ({ index: 0, delta: { content }, finish_reason: null as string | null }));
	const end = { index: 0, delta: {}, finish_reason: "stop" };
	const lines = [...deltas, end].map((choice) => `data: ${JSON.stringify({ id: "chatcmpl-1", choices: [choice] })}\n\n`);
	const bytes = new TextEncoder().encode(lines.join(""));
	const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
	const reader = new EventReader(1_000_000);
	const thinking = new ThinkingStream(plan);
	const said = { content: "", reasoning_content: "" };
	let events = 0;
	for (const [index, place] of places.slice(1).entries()) {
		for (const event of reader.take(bytes.slice(places[index], place))) {
			const told = thinking.event(event);
			expect(JSON.parse(told.text)).toEqual(told.body);
			const [choice] = told.body.choices as { delta: Partial<typeof said> }[];
			said.content += choice?.delta.content ?? "";
			said.reasoning_content += choice?.delta.reasoning_content ?? "";
			events++;
		}
	}
	expect(events).toBe(pieces.length + 1);
	return said;
}

test("thoughts of a whole answer come as reasoning_content, or go", async () => {
	const content = "<think>\n2 and 2</think>\n\n4";
	expect(await whole({ role: "assistant", content }, TELL)).toEqual({
		role: "assistant",
		reasoning_content: "2 and 2",
		content: "4",
	});
	expect(await whole({ role: "assistant", content }, { ...TELL, reportThoughts: false })).toEqual({
		role: "assistant",
		content: "4",
	});
	expect(await whole({ content: null, tool_calls: [{ id: "a" }] }, TELL)).toEqual({ content: null, tool_calls: [{ id: "a" }] });
	expect(await whole({ content: "x</think>4", reasoning_content: "before " }, { ...TELL, startsInside: true })).toEqual({
		reasoning_content: "before x",
		content: "4",
	});
});

test("a stream says the same as the whole answer, wherever tags, characters and events are cut", async () => {
	const token = fc.constantFrom("<think>", "</think>", "<", "th", "ink>", " ", "\n", "word", "é", "😀", '"');
	const pieces = fc.array(fc.array(token, { maxLength: 3 }), { minLength: 1, maxLength: 8 });
	await fc.assert(
		fc.asyncProperty(
			pieces,
			fc.array(fc.nat(), { maxLength: 6 }),
			fc.boolean(),
			fc.boolean(),
			fc.nat(40),
			async (groups, cuts, reportThoughts, startsInside, at) => {
				const plan = { reportThoughts, startsInside };
				const text = groups.flat().join("");
				// Pieces of any length, so that a tag is split anywhere.
				const place = Math.min(at, text.length);
				const split = [text.slice(0, place), null, ...text.slice(place)];
				const expected = (await whole({ content: text }, plan)) as { content: string; reasoning_content?: string };
				for (const list of [groups.map((group) => group.join("")), split])
					expect(streamed(list, cuts, plan)).toEqual({ reasoning_content: "", ...expected });
			},
		),
	);
});

test("a delta that only thinks says no text, so that clients do not begin the answer", () => {
	const reader = new EventReader(1_000);
	const [event] = reader.take(new TextEncoder().encode('data: {"choices":[{"index":0,"delta":{"content":"<think>a"}}]}\n\n'));
	if (event === undefined) throw new Error("no event");
	expect(new ThinkingStream(TELL).event(event).body.choices).toEqual([{ index: 0, delta: { reasoning_content: "a" } }]);
});

test("the entry and the options of a request say what becomes of thoughts", () => {
	const keep = { strip: false, disabled: false };
	expect(thinkingPlan({}, keep)).toBeNull();
	expect(thinkingPlan({}, { ...keep, strip: true })).toEqual({ reportThoughts: false, startsInside: false });
	expect(thinkingPlan({ thinkBlocks: "inline" }, keep)).toEqual({ reportThoughts: true, startsInside: false });
	expect(thinkingPlan({ thinkBlocks: "opened" }, keep)).toEqual({ reportThoughts: true, startsInside: true });
	// A model that was asked not to think gets its empty block in the prompt.
	expect(thinkingPlan({ thinkBlocks: "opened" }, { strip: true, disabled: true })).toEqual({
		reportThoughts: false,
		startsInside: false,
	});
});
