import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventFrame, frameOf } from "./event-frame.ts";

const frame = (event: object | string) => {
	const text = typeof event === "string" ? event : JSON.stringify(event);
	return frameOf(text, JSON.parse(text));
};
const chunk = (delta: object, more: object = {}, choice: object = {}) => ({
	id: "chatcmpl-1",
	model: "m",
	choices: [{ index: 0, delta, finish_reason: null, ...choice }],
	...more,
});

describe("the frame of an event", () => {
	test("is all of its text but the piece that it says: text, thoughts, a refusal or tool arguments", () => {
		for (const delta of [
			{ content: "a" },
			{ role: "assistant", content: "a", tool_calls: [] as [] | null, refusal: null },
			{ content: null, reasoning_content: "a" },
			{ reasoning: "a", content: "" },
			{ refusal: "a" },
			{ tool_calls: [{ index: 0, function: { arguments: "a" } }] },
		]) {
			if (Array.isArray(delta.tool_calls) && delta.tool_calls.length === 0) delta.tool_calls = null;
			const text = JSON.stringify(chunk(delta));
			const found = frame(text);
			expect([found?.head, found?.tail]).toEqual(text.split(/(?<=")a(?=")/));
		}
	});

	test("is none where an event says more than one thing, says nothing, ends, or counts", () => {
		for (const event of [
			chunk({}),
			chunk({ content: "" }),
			chunk({ role: "assistant" }),
			chunk({ content: "a", reasoning: "b" }),
			chunk({ content: [{ type: "text", text: "a" }] }),
			chunk({ tool_calls: [{ index: 0, function: { name: "f", arguments: "a" } }] }),
			chunk({ tool_calls: [{ function: { arguments: "a" } }, { function: { arguments: "b" } }] }),
			chunk({ content: "a" }, {}, { finish_reason: "stop" }),
			chunk({ content: "a" }, { usage: { prompt_tokens: 1 } }),
			chunk({ content: "a" }, { usage: 0 }),
			chunk({ content: "a" }, { x_groq: { usage: {} } }),
			{ choices: [] },
			{ choices: [chunk({ content: "a" }).choices[0], chunk({ content: "b" }).choices[0]] },
			{ choices: [{ message: { content: "a" } }] },
			{ content: "a" },
		])
			expect(frame(event)).toBeNull();
	});

	test("is none where the piece stands twice and the last is not the one that counts", () => {
		expect(frame(chunk({ content: "index" }))).toMatchObject({ head: expect.stringMatching(/"content":"$/) });
		expect(frame(chunk({ content: "finish_reason" }))).toBeNull();
		expect(frame({ ...chunk({ content: "m" }), tail: "m" })).toBeNull();
	});
});

describe("an event of a frame that is known", () => {
	const known = frame(chunk({ content: "first" })) as EventFrame;
	const said = (written: string) => known.match(`${known.head}${written}${known.tail}`)?.piece ?? null;

	test("says what a parser would read", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (piece) => {
				const text = JSON.stringify(chunk({ content: piece }));
				const event = known.match(text);
				expect(event?.piece).toBe(JSON.parse(text).choices[0].delta.content);
				expect(event?.text).toBe(text);
				expect(event?.body).toEqual(JSON.parse(text));
			}),
			{ numRuns: 500 },
		);
		expect(said("\\u0061\\/\\ud83d\\ude00é")).toBe("a/😀é");
	});

	test("has that frame only where a parser would read it so too: never a broken one, and none that says more", () => {
		const part = fc.constantFrom("a", "\\", '"', "u0061", "n", ",", "{", "}", ":", '"x":"', "\n", "\u0000", "\t", "\u007f");
		fc.assert(
			fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
				const written = parts.join("");
				const found = said(written);
				if (found === null) return;
				const whole = JSON.parse(`${known.head}${written}${known.tail}`);
				expect(whole).toEqual(chunk({ content: found }));
			}),
			{ numRuns: 3000 },
		);
		for (const written of ["\\", "\\x", "\\u12", '"', 'a","b":"', "\n"]) expect(said(written)).toBeNull();
	});

	test("must have both ends whole", () => {
		expect(known.match(known.head + known.tail)?.piece).toBe("");
		expect(known.match(known.head + known.tail.slice(1))).toBeNull();
		expect(known.match(`${known.head}a${known.tail} `)).toBeNull();
		const overlapping = new EventFrame('{"a":"', '":"b"}', {});
		expect(overlapping.match('{"a":"b"}')).toBeNull();
	});
});
