import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AdmittedChat } from "../../completions/admitted-chat.ts";
import { EventReader } from "../../upstreams/chat/event-reader.ts";
import { topLevelMembers, utf8Text } from "../../wire/index.ts";
import { ChunkWriter } from "./chunk-writer.ts";

const OURS = "public-model";
const chat = (options: Partial<AdmittedChat> = {}) =>
	({
		call: { requestId: "0".repeat(32), admittedAtMs: 5_000_000 },
		model: { id: OURS },
		echo: { a: 1 },
		streamEcho: null,
		web: null,
		choices: 1,
		...options,
	}) as unknown as AdmittedChat;

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** What an upstream's events become, whichever way its bytes are cut. */
function relayed(events: readonly string[], cuts: readonly number[], options: Partial<AdmittedChat> = {}): string[] {
	const bytes = bytesOf(events.map((event) => `data: ${event}\n\n`).join(""));
	const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
	const reader = new EventReader(1_000_000);
	const writer = new ChunkWriter(chat(options));
	let text = "";
	for (const [index, place] of places.slice(1).entries())
		for (const event of reader.take(bytes.slice(places[index], place))) text += writer.event(event);
	return text.split("\n\n").slice(0, -1);
}

function choicesOf(event: string): string | null {
	const bytes = bytesOf(event);
	const member = topLevelMembers(bytes).find(({ key }) => key === "choices");
	return member === undefined ? null : utf8Text(bytes, member.valueStart, member.valueEnd);
}

const piece = fc.oneof(
	fc.constantFrom("word", " a", "\n", '"', "\\", "é", "😀", "index", "", "\u2028", "m1", "\u0000"),
	fc.string({ unit: "grapheme", maxLength: 4 }),
);
const delta = fc.oneof(
	{ weight: 6, arbitrary: piece.map((content) => ({ content })) },
	piece.map((content) => ({ role: "assistant", content })),
	piece.map((reasoning_content) => ({ content: null, reasoning_content })),
	piece.map((args) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] })),
	fc.constant({}),
);
const choice = fc.record({
	index: fc.constantFrom(0, 0, 0, 1),
	delta,
	finish_reason: fc.constantFrom(null, null, null, null, "stop"),
});
/** Members that a server repeats in every chunk, in the order that it likes. */
const frame = fc.shuffledSubarray(["id", "created", "model", "choices", "usage", "object"], { minLength: 4 });

describe("an upstream's chunk becomes ours", () => {
	test("with our model, one id, one time, and the bytes of its choices, in whatever order its members stand", () => {
		const streams = fc.record({
			order: frame.filter((names) => names.includes("choices")),
			id: fc.constantFrom("chatcmpl-1", "other"),
			model: fc.constantFrom("m1", OURS),
			choices: fc.array(fc.array(choice, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 12 }),
			second: fc.nat({ max: 12 }),
			cuts: fc.array(fc.nat(), { maxLength: 6 }),
		});
		fc.assert(
			fc.property(streams, ({ order, id, model, choices, second, cuts }) => {
				const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } };
				const delta = { role: "assistant", content: "", tool_calls: [call] };
				const roles = [0, 1].map((index) => ({ index, delta, finish_reason: null }));
				const events = [roles, ...choices].map((list, index) => {
					const members = { id, created: index < second ? 7 : 8, model, choices: list, usage: null, object: "chunk" };
					return JSON.stringify(Object.fromEntries(order.map((name) => [name, members[name as keyof typeof members]])));
				});
				const ours = relayed(events, cuts);
				expect(ours.length).toBe(events.length);
				const first = JSON.parse((ours[0] ?? "").slice(6)) as { created: unknown };
				for (const [index, line] of ours.entries()) {
					const event = events[index] ?? "";
					expect(line.startsWith("data: ")).toBe(true);
					const chunk = JSON.parse(line.slice(6)) as Record<string, unknown>;
					const ourId = order.includes("id") && id === "chatcmpl-1" ? id : `chatcmpl-${"0".repeat(32)}`;
					expect(chunk).toEqual({
						...JSON.parse(event),
						id: ourId,
						model: OURS,
						created: first.created,
						object: "chat.completion.chunk",
					});
					expect(choicesOf(line.slice(6))).toBe(choicesOf(event));
				}
			}),
			{ numRuns: 1_000 },
		);
	});

	test("byte for byte where there is nothing to change", () => {
		const event = (content: string) =>
			`{"id":"chatcmpl-1", "object": "chat.completion.chunk", "created":5, "model":"${OURS}","choices":[{"index":0,"delta":{"role":"assistant", "content":"${content}"}}]}`;
		const events = ["a", "b", "c\\n", "\\u00e9", "é"].map(event);
		expect(relayed(events, [])).toEqual(events.map((text) => `data: ${text}`));
	});

	test("with the echo in the first alone, and without a usage that counts", () => {
		const event = (content: string, usage: unknown) =>
			JSON.stringify({ id: "chatcmpl-1", created: 5, model: "m1", choices: [{ delta: { content } }], usage });
		const lines = relayed([event("a", null), event("b", null), event("c", { total_tokens: 1 }), event("d", null)], [], {
			streamEcho: { a: 1 },
		}).map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
		expect(lines.map((line) => line.service_parameters)).toEqual([{ a: 1 }, undefined, undefined, undefined]);
		expect(lines.map((line) => line.usage)).toEqual([null, null, undefined, null]);
	});
});
