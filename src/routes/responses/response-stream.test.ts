import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunksOf, type Speech, TOOL_SPEECH } from "../../../test/support/chat-answers.ts";
import type { AdmittedChat, PostedCharge } from "../../completions/index.ts";
import { ClientTools } from "../../completions/responses-form/index.ts";
import { ApiError } from "../../errors/index.ts";
import { EventReader } from "../../upstreams/chat/event-reader.ts";
import { LongStrings } from "../../wire/index.ts";
import { ResponseObject } from "./response-object.ts";
import { ResponseStream } from "./response-stream.ts";

const chat = {
	call: { requestId: "0".repeat(32), admittedAtMs: 5_000_000 },
	model: { id: "m" },
	echo: {},
	streamEcho: null,
	web: null,
} as unknown as AdmittedChat;
const usage = { promptTokens: 9, completionTokens: 3, cachedTokens: 2, cacheWriteTokens: 0, reasoningTokens: 1, counted: false };
const TOOLS = new ClientTools(LongStrings.none);
const paid = { usage, posted: { usd: 1_000, diem: 0, expected: { usd: 0, diem: 0 } } } as unknown as PostedCharge;

interface ResponseEvent {
	readonly type: string;
	readonly sequence_number: number;
	readonly response?: { readonly status: string; readonly output: readonly object[]; readonly error: unknown };
	readonly [member: string]: unknown;
}

function eventsOf(text: string): ResponseEvent[] {
	return text
		.split("\n\n")
		.filter((block) => block !== "")
		.map((block) => {
			const [name = "", data = ""] = block.split("\n");
			const event = JSON.parse(data.slice("data: ".length)) as ResponseEvent;
			expect(name).toBe(`event: ${event.type}`);
			return event;
		});
}

function streamOf(speech: Speech, cuts: readonly number[] = [], framing: "lf" | "crlf" | "comments" = "lf") {
	const end = framing === "crlf" ? "\r\n" : "\n";
	const noise = framing === "comments" ? `: keep-alive${end}${end}` : "";
	const lines = chunksOf(speech, "m").map((chunk) => `${noise}data: ${JSON.stringify(chunk)}${end}${end}`);
	const bytes = new TextEncoder().encode(lines.join(""));
	const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
	const reader = new EventReader(1_000_000);
	const stream = new ResponseStream(chat, new ResponseObject(chat, { model: "m", input: "x" }, TOOLS, LongStrings.none));
	let text = "";
	for (const [index, place] of places.slice(1).entries())
		for (const event of reader.take(bytes.slice(places[index], place))) text += stream.event(event);
	return { stream, text };
}

const PARTS = ["response.created", "response.in_progress"];

test("the events of thoughts and text, in order", () => {
	const { stream, text } = streamOf({ content: ["Fo", "ur"], reasoning: ["2+2"] });
	const events = eventsOf(text + stream.end(paid));
	expect(events.map(({ type }) => type)).toEqual([
		...PARTS,
		"response.output_item.added",
		"response.reasoning_summary_part.added",
		"response.reasoning_summary_text.delta",
		"response.reasoning_summary_text.done",
		"response.reasoning_summary_part.done",
		"response.output_item.done",
		"response.output_item.added",
		"response.content_part.added",
		"response.output_text.delta",
		"response.output_text.delta",
		"response.output_text.done",
		"response.content_part.done",
		"response.output_item.done",
		"response.completed",
	]);
	expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
	expect(events.at(-1)?.response).toMatchObject({
		status: "completed",
		usage: {
			input_tokens: 9,
			input_tokens_details: { cached_tokens: 2 },
			output_tokens: 3,
			output_tokens_details: { reasoning_tokens: 1 },
			total_tokens: 12,
		},
	});
	// What was told piece by piece is what stands in the end.
	const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
	expect(events.at(-1)?.response?.output).toEqual(done as object[]);
});

test("the events of calls: each is done before the next is added", () => {
	const { stream, text } = streamOf(TOOL_SPEECH);
	const events = eventsOf(text + stream.end(paid));
	const types = events.map(({ type }) => type.replace(/^response\./, "")).filter((type) => !type.endsWith("delta"));
	const call = ["output_item.added", "function_call_arguments.done", "output_item.done"];
	expect(types).toEqual(["created", "in_progress", ...call, ...call, "completed"]);
	const args = events.flatMap(({ type, arguments: written }) => (type.endsWith("arguments.done") ? [written] : []));
	expect(args.map((written) => JSON.parse(String(written)))).toEqual([{ q: "café é" }, { city: "Zürich" }]);
});

test("a stream that was cut by its maximum is incomplete, one that broke has failed; both say what there is", () => {
	const cut = streamOf({ content: ["a", "b"], finishReason: "length" });
	const last = eventsOf(cut.stream.end(paid)).at(-1);
	expect(last).toMatchObject({
		type: "response.incomplete",
		response: { incomplete_details: { reason: "max_output_tokens" }, output: [{ status: "incomplete" }] },
	});
	const ceiling = streamOf({ content: ["a"] });
	expect(eventsOf(ceiling.stream.cut() + ceiling.stream.end(paid)).at(-1)?.type).toBe("response.incomplete");
	const reader = new EventReader(1_000);
	const broken = new ResponseStream(chat, new ResponseObject(chat, { model: "m", input: "x" }, TOOLS, LongStrings.none));
	const [event] = reader.take(new TextEncoder().encode('data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'));
	if (event === undefined) throw new Error("no event");
	const text = broken.event(event) + broken.failed(new ApiError("INFERENCE_FAILED"));
	expect(eventsOf(text).at(-1)).toMatchObject({
		type: "response.failed",
		response: {
			status: "failed",
			error: { code: "INFERENCE_FAILED" },
			output: [{ status: "incomplete", content: [{ text: "half" }] }],
			usage: null,
		},
	});
});

test("a stream that breaks before its first event begins and fails", () => {
	const stream = new ResponseStream(chat, new ResponseObject(chat, { model: "m", input: "x" }, TOOLS, LongStrings.none));
	const events = eventsOf(stream.failed(new ApiError("MODEL_OFFLINE")));
	expect(events.map(({ type }) => type)).toEqual([...PARTS, "response.failed"]);
});

test("the same events, wherever the bytes of the upstream are cut and however they are framed", () => {
	const word = fc.constantFrom("word", " é", "😀", '"', "\\n", "\n", "\u2028");
	const speech = fc.record({
		content: fc.array(word, { maxLength: 5 }),
		reasoning: fc.array(word, { maxLength: 3 }),
		finishReason: fc.constantFrom("stop" as const, "length" as const),
	});
	const cuts = fc.array(fc.nat(), { maxLength: 12 });
	const framing = fc.constantFrom("lf" as const, "crlf" as const, "comments" as const);
	fc.assert(
		fc.property(speech, cuts, framing, fc.boolean(), (said, places, frame, calls) => {
			const whole = calls ? { ...said, toolCalls: TOOL_SPEECH.toolCalls ?? [] } : said;
			const [plain, cut] = [streamOf(whole), streamOf(whole, places, frame)];
			expect(cut.text).toBe(plain.text);
			expect(cut.stream.end(paid)).toBe(plain.stream.end(paid));
		}),
		{ numRuns: 60 },
	);
});
