import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunksOf, type Speech, TOOL_SPEECH } from "../../../test/support/chat-answers.ts";
import type { AdmittedChat, PostedCharge } from "../../completions/index.ts";
import { EventReader } from "../../upstreams/chat/event-reader.ts";
import { MessageStream } from "./message-stream.ts";

const chat = {
	call: { requestId: "0".repeat(32) },
	model: { id: "m" },
	echo: {},
	streamEcho: null,
	web: null,
} as unknown as AdmittedChat;
const usage = { promptTokens: 9, completionTokens: 3, cachedTokens: 2, cacheWriteTokens: 1, reasoningTokens: 1, counted: false };
const paid = { usage, posted: { usd: 1_000, diem: 0, expected: { usd: 0, diem: 0 } } } as unknown as PostedCharge;

function told(chunks: readonly object[], cuts: readonly number[] = []): string {
	const bytes = new TextEncoder().encode(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
	const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
	const reader = new EventReader(1_000_000);
	const stream = new MessageStream(chat, { stopSequences: [], promptTokens: () => 7 });
	let text = "";
	for (const [index, place] of places.slice(1).entries())
		for (const event of reader.take(bytes.slice(places[index], place))) text += stream.event(event);
	return text + stream.end(paid);
}

interface Event {
	readonly type: string;
	readonly index?: number;
	readonly delta?: { readonly type: string };
	readonly [member: string]: unknown;
}
const eventsOf = (text: string) =>
	text
		.split("\n\n")
		.filter((block) => block !== "")
		.map((block) => {
			const [name, data = ""] = block.split("\n");
			const event = JSON.parse(data.slice("data: ".length)) as Event;
			expect(name).toBe(`event: ${event.type}`);
			return event;
		});

test("a block is stopped before the next begins, also where an upstream mixes its calls", () => {
	const call = (index: number, args: string, id?: string) => ({
		choices: [
			{ index: 0, delta: { tool_calls: [{ index, ...(id ? { id } : {}), function: { name: id ?? "", arguments: args } }] } },
		],
	});
	const mixed = [call(0, "", "a"), call(1, "", "b"), call(1, '{"y":'), call(0, '{"x":1'), call(1, "2}"), call(0, "}")];
	const events = eventsOf(told([...chunksOf({ content: ["Hm"] }, "m").slice(0, 2), ...mixed]));
	const shape = events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`));
	expect([...new Set(shape)]).toEqual([
		"message_start",
		...[0, 1, 2].flatMap((index) => ["start", "delta", "stop"].map((part) => `content_block_${part} ${index}`)),
		"message_delta",
		"message_stop",
	]);
	expect(events.at(-2)).toMatchObject({
		delta: { stop_reason: "tool_use" },
		usage: { input_tokens: 6, cache_read_input_tokens: 2, cache_creation_input_tokens: 1, output_tokens: 3 },
	});
});

test("the same events, wherever the bytes of the upstream are cut", () => {
	const word = fc.constantFrom("word", " é", "😀", '"', "\\n", "\n", "\u2028");
	const speech = fc.record({
		content: fc.array(word, { maxLength: 5 }),
		reasoning: fc.array(word, { maxLength: 3 }),
		finishReason: fc.constantFrom("stop" as const, "length" as const),
	});
	fc.assert(
		fc.property(speech, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (said, cuts, calls) => {
			const whole: Speech = calls ? { ...said, toolCalls: TOOL_SPEECH.toolCalls ?? [] } : said;
			const chunks = chunksOf(whole, "m");
			const text = told(chunks, cuts);
			expect(text).toBe(told(chunks));
			const pieces = (type: string, key: string) =>
				eventsOf(text).flatMap(({ delta }) => (delta?.type === type ? [(delta as unknown as Record<string, string>)[key]] : []));
			expect(pieces("text_delta", "text").join("")).toBe(said.content.join(""));
			expect(pieces("thinking_delta", "thinking").join("")).toBe(said.reasoning.join(""));
		}),
		{ numRuns: 60 },
	);
});
