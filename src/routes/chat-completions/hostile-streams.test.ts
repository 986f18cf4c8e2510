/** Native streams as servers and proxies frame and cut them: what the caller gets is the same, event by event. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chunksOf, type Speech, TOOL_SPEECH, usageChunk, usageOfSpeech } from "../../../test/support/chat-answers.ts";
import { chatForward, HELLO } from "../../../test/support/chat-forward.ts";
import { TIMEOUTS, upstreamConfig } from "../../../test/support/upstream-pair.ts";
import type { AdmittedChat } from "../../completions/admitted-chat.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createChatUpstreams } from "../../upstreams/chat/chat-upstreams.ts";
import { ChunkWriter } from "./chunk-writer.ts";

const chat = {
	call: { requestId: "0".repeat(32), admittedAtMs: 5_000_000 },
	model: { id: "ours" },
	streamEcho: null,
	web: null,
	choices: 1,
} as unknown as AdmittedChat;

/** One write of the server a piece. */
function bodyOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
	let next = 0;
	return new ReadableStream({
		pull(controller) {
			const piece = pieces[next++];
			if (piece === undefined) controller.close();
			else controller.enqueue(piece);
		},
	});
}

async function relayed(pieces: readonly Uint8Array[]) {
	const answer = () => new Response(bodyOf(pieces), { headers: { "content-type": "text/event-stream" } });
	const upstreams = createChatUpstreams({
		upstreams: { main: upstreamConfig({ url: "http://127.0.0.1:1/v1" }) },
		timeouts: TIMEOUTS,
		log: silentLog,
		fetch: () => Promise.resolve(answer()),
	});
	const stream = upstreams.stream(chatForward({ ...HELLO, n: 8, stream: true }));
	const writer = new ChunkWriter(chat);
	let text = "";
	await stream.each(({ events }) => {
		for (const event of events) text += writer.event(event);
		return null;
	});
	upstreams.close();
	const lines = text.split("\n\n").slice(0, -1);
	for (const line of lines) expect(line).toMatch(/^data: [^\n]+$/);
	const chunks = lines.map((line) => JSON.parse(line.slice(6)) as { model: string; choices: unknown[] });
	expect(chunks.every(({ model }) => model === "ours")).toBe(true);
	return { choices: chunks.flatMap(({ choices }) => choices), usage: stream.usage };
}

interface Framing {
	readonly lineEnd: string;
	readonly noise: string;
	/** The JSON over several data lines. */
	readonly pretty: boolean;
}

function framed(events: readonly object[], framings: readonly Framing[], mark: string): Uint8Array {
	const text = events.map((event, index) => {
		const { lineEnd = "\n", noise = "", pretty = false } = framings[index % Math.max(1, framings.length)] ?? {};
		const data = JSON.stringify(event, null, pretty ? 1 : undefined).split("\n");
		return [...(noise === "" ? [] : [noise]), ...data.map((line) => `data: ${line}`), ""].map((line) => line + lineEnd).join("");
	});
	return new TextEncoder().encode(`${mark}${text.join("")}data: [DONE]\n\n`);
}

const eventsOf = (speech: Speech) => [...chunksOf(speech, "theirs"), usageChunk(usageOfSpeech(speech), "theirs")];
const choicesOf = (speech: Speech) => (chunksOf(speech, "theirs") as { choices: unknown[] }[]).flatMap(({ choices }) => choices);

describe("a stream of an upstream", () => {
	test("is the same cut at any byte, and byte by byte", async () => {
		const speech = { ...TOOL_SPEECH, content: ["é😀\n", "\u2028"], reasoning: ["hm ", "é"] };
		const framings = [
			{ lineEnd: "\r\n", noise: ": keep-alive", pretty: false },
			{ lineEnd: "\n", noise: "", pretty: true },
		];
		const bytes = framed(eventsOf(speech), framings, "\ufeff");
		const expected = { choices: choicesOf(speech), usage: (await relayed([bytes])).usage };
		expect(expected.usage?.completionTokens).toBe(11);
		expect(await relayed([bytes])).toEqual(expected);
		expect(await relayed([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
		for (let cut = 1; cut < bytes.length; cut++) expect(await relayed([bytes.slice(0, cut), bytes.slice(cut)])).toEqual(expected);
	});

	test("is the same with any line ends, comments, fields, lines of data and sizes", async () => {
		const piece = fc.oneof(
			fc.constantFrom("word", "é", "😀", "\n\n", "data: x", "[DONE]", '"', "\\", "\u0000", "x".repeat(70_000)),
			fc.string({ unit: "grapheme", maxLength: 6 }),
		);
		const speech = fc.record({
			content: fc.array(piece, { minLength: 1, maxLength: 5 }),
			reasoning: fc.array(piece, { maxLength: 3 }),
			choices: fc.constantFrom(1, 1, 2),
		});
		const framing = fc.record({
			lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
			noise: fc.constantFrom("", ": ping", ":", "event: message", "id: 7", "retry: 10"),
			pretty: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(
				speech,
				fc.array(framing, { maxLength: 4 }),
				fc.constantFrom("", "\ufeff"),
				fc.array(fc.nat(), { maxLength: 10 }),
				async (said, framings, mark, cuts) => {
					const bytes = framed(eventsOf(said), framings, mark);
					const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
					const pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
					const { choices, usage } = await relayed(pieces.filter((part) => part.length > 0));
					expect(choices).toEqual(choicesOf(said));
					expect(usage?.promptTokens).toBe(9);
				},
			),
			{ numRuns: 150 },
		);
	});
});
