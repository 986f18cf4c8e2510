import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventReader } from "../upstreams/chat/event-reader.ts";
import type { AssistantOutputListener, Segment } from "./assistant-output.ts";
import { AssistantOutputReader } from "./assistant-output-reader.ts";

const callIds = (number: number) => `made_${number}`;

/** What a teller was told: whether in order, and what the pieces of each segment make. */
class Notes implements AssistantOutputListener {
	readonly told: string[] = [];
	readonly joined = new Map<Segment, string>();
	open(segment: Segment) {
		this.told.push(`open ${segment.index} ${segment.kind}`);
		this.joined.set(segment, "");
		return "";
	}
	piece(segment: Segment, text: string) {
		if (this.told.at(-1) !== `piece ${segment.index}`) this.told.push(`piece ${segment.index}`);
		this.joined.set(segment, (this.joined.get(segment) ?? "never opened") + text);
		return "";
	}
	close(segment: Segment) {
		expect(this.joined.get(segment)).toBe(segment.text);
		this.told.push(`close ${segment.index}`);
		return "";
	}
}

function chunk(delta: object, finish: string | null = null, more: object = {}): object {
	return { id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish, ...more }] };
}

/** Reads a stream whose bytes come in cuts. */
function read(events: readonly object[], cuts: readonly number[] = []) {
	const bytes = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
	const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
	const events_ = new EventReader(1_000_000);
	const notes = new Notes();
	const reader = new AssistantOutputReader(notes, callIds);
	for (const [index, place] of places.slice(1).entries())
		for (const event of events_.take(bytes.slice(places[index], place))) reader.take(event);
	reader.end();
	return { told: notes.told, segments: reader.segments.map(shown), reader };
}

const shown = ({ kind, text, callId, name }: Segment) => (kind === "call" ? { kind, callId, name, text } : { kind, text });
const call = (index: number, args: string, id?: string, name?: string) => ({
	tool_calls: [{ index, ...(id ? { id, type: "function" } : {}), function: { ...(name ? { name } : {}), arguments: args } }],
});

describe("a stream is read as segments one after the other", () => {
	test("thoughts, text, calls: each opened, told and closed before the next", () => {
		const { told, segments } = read([
			chunk({ role: "assistant", content: "" }),
			chunk({ reasoning_content: "2 plus " }),
			chunk({ reasoning_content: "2" }),
			chunk({ content: "Four" }),
			chunk({ content: "." }),
			chunk(call(0, "", "a", "look")),
			chunk(call(0, '{"q":')),
			chunk(call(0, "1}")),
			chunk({}, "tool_calls"),
		]);
		expect(segments).toEqual([
			{ kind: "thought", text: "2 plus 2" },
			{ kind: "text", text: "Four." },
			{ kind: "call", callId: "a", name: "look", text: '{"q":1}' },
		]);
		expect(told).toEqual(["thought", "text", "call"].flatMap((kind, at) => [`open ${at} ${kind}`, `piece ${at}`, `close ${at}`]));
	});

	test("calls whose fragments come mixed are put in order", () => {
		const { segments, told } = read([
			chunk(call(0, "", "a", "one")),
			chunk(call(1, "", "b", "two")),
			chunk(call(1, '{"y":')),
			chunk(call(0, '{"x":')),
			chunk(call(1, "2}")),
			chunk(call(0, "1}")),
			chunk(call(2, "{}", "c", "three")),
			chunk({}, "tool_calls"),
		]);
		expect(segments.map(({ text }) => text)).toEqual(['{"x":1}', '{"y":2}', "{}"]);
		expect(told.filter((note) => !note.startsWith("piece"))).toEqual(
			[0, 1, 2].flatMap((at) => [`open ${at} call`, `close ${at}`]),
		);
	});

	test("calls under one index, or without index or id, are told apart by what they have", () => {
		const sameIndex = read([chunk(call(0, "{}", "a", "one")), chunk(call(0, "{}", "b", "two")), chunk({}, "tool_calls")]);
		expect(sameIndex.segments.map((segment) => ("callId" in segment ? segment.callId : ""))).toEqual(["a", "b"]);
		const nameless = read([
			chunk({ tool_calls: [{ id: "a", function: { name: "one", arguments: '{"x":' } }] }),
			chunk({ tool_calls: [{ function: { arguments: "1}" } }] }),
			chunk({}, "tool_calls"),
		]);
		expect(nameless.segments).toEqual([{ kind: "call", callId: "a", name: "one", text: '{"x":1}' }]);
		const idless = read([chunk(call(0, "{}", undefined, "one")), chunk({}, "tool_calls")]);
		expect(idless.segments).toEqual([{ kind: "call", callId: "made_0", name: "one", text: "{}" }]);
	});

	test("a call in the older form is one", () => {
		const whole = read([
			chunk({ content: null, function_call: { name: "one", arguments: "" } }),
			chunk({ function_call: { arguments: '{"x":' } }),
			chunk({ function_call: { arguments: "1}" } }),
			chunk({}, "function_call"),
		]);
		expect(whole.segments).toEqual([{ kind: "call", callId: "made_0", name: "one", text: '{"x":1}' }]);
	});

	test("what a provider wants back with its thoughts is kept: pieces of one index joined, a late signature too", () => {
		const detail = (text: string, more: object = {}) => ({ type: "reasoning.text", index: 0, text, ...more });
		const { reader } = read([
			chunk({ reasoning_content: "a", reasoning_details: [detail("a")] }),
			chunk({ reasoning_content: "b", reasoning_details: [detail("b")] }),
			chunk({ reasoning_details: [detail("", { signature: "sig" })] }),
			chunk({ content: "x" }),
			chunk({}, "stop"),
		]);
		expect(reader.segments[0]?.details).toEqual([detail("ab", { signature: "sig" })]);
		const late = read([chunk({ content: "x" }), chunk({ thought_signature: "s" }), chunk({}, "stop")]).reader;
		expect(late.segments.map(({ kind, signature }) => [kind, signature])).toEqual([
			["text", null],
			["thought", "s"],
		]);
	});

	test.each([
		[
			"pieces of thoughts of their own",
			(index: number) => ({ reasoning_details: [{ type: "reasoning.text", index, text: "a" }] }),
		],
		["pieces of thoughts without an index", () => ({ reasoning_details: [{ type: "reasoning.text", text: "a" }] })],
		[
			"long pieces of thoughts",
			() => ({ reasoning_details: [{ type: "reasoning.encrypted", index: 0, data: "a".repeat(4_096) }] }),
		],
		["sources", () => ({ content: "a", annotations: [{ type: "url_citation", url_citation: { url: "u" } }] })],
		["thoughts and texts by turns", (index: number) => (index % 2 === 0 ? { content: "a" } : { reasoning_content: "a" })],
	])("an answer without end of %s is ended", (_, delta) => {
		const reader = new AssistantOutputReader(new Notes(), callIds);
		const take = (index: number) =>
			reader.take({ text: "", body: chunk(delta(index)) as Record<string, unknown>, frame: null, written: "", piece: "" });
		const endless = () => {
			for (let index = 0; index < 20_000; index++) take(index);
		};
		expect(endless).toThrow(expect.objectContaining({ code: "INFERENCE_FAILED" }));
	});

	test("an answer without end is ended, and fills no memory", () => {
		const reader = new AssistantOutputReader(new Notes(), callIds);
		const [event] = new EventReader(2_000_000).take(
			new TextEncoder().encode(`data: ${JSON.stringify(chunk({ content: "x".repeat(1_048_576) }))}\n\n`),
		);
		if (event === undefined) throw new Error("no event");
		for (let count = 0; count < 16; count++) reader.take(event);
		expect(() => reader.take(event)).toThrow("backend failed");
	});

	test("the last segment of a stream that was cut is not whole", () => {
		const { reader } = read([chunk({ content: "a" }), chunk({}, "length")]);
		expect(reader.segments[0]?.isWhole).toBe(false);
	});
});

test("a whole message says the same as its stream, wherever the bytes are cut", () => {
	const piece = fc.array(fc.constantFrom("word", " ", "é", "😀", "\n", '"', "\\", "<", "\u2028"), { minLength: 1, maxLength: 3 });
	const texts = fc.array(
		piece.map((parts) => parts.join("")),
		{ maxLength: 5 },
	);
	const calls = fc.array(fc.dictionary(fc.constantFrom("q", "é", '"'), fc.string({ maxLength: 4 }), { maxKeys: 2 }), {
		maxLength: 3,
	});
	fc.assert(
		fc.property(texts, texts, calls, fc.array(fc.nat(), { maxLength: 8 }), fc.nat(6), (thoughts, said, args, cuts, size) => {
			const written = args.map((value) => JSON.stringify(value));
			const message = {
				role: "assistant",
				content: said.length > 0 ? said.join("") : null,
				...(thoughts.length > 0 ? { reasoning_content: thoughts.join("") } : {}),
				tool_calls: written.map((text, index) => ({ id: `call_${index}`, function: { name: `f${index}`, arguments: text } })),
			};
			const fragments = written.flatMap((text, index) => [
				chunk(call(index, "", `call_${index}`, `f${index}`)),
				...(text.match(new RegExp(`[^]{1,${size + 1}}`, "g")) ?? []).map((part) => chunk(call(index, part))),
			]);
			const events = [
				chunk({ role: "assistant", content: "" }),
				...thoughts.map((text) => chunk({ reasoning_content: text })),
				...said.map((content) => chunk({ content })),
				...fragments,
				chunk({}, "stop"),
			];
			const whole = AssistantOutputReader.whole({ choices: [{ index: 0, message, finish_reason: "stop" }] }, callIds);
			expect(read(events, cuts).segments).toEqual(whole.segments.map(shown));
		}),
	);
});
