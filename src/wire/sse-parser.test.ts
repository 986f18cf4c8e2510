import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { growth, LINEAR_BOUND } from "../../test/support/growth.ts";
import { SseEventTooLarge, SseNotUtf8, SseParser } from "./sse-parser.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The events that a chunk completes. */
function read(parser: SseParser, chunk: Uint8Array, into: string[] = []): string[] {
	parser.push(chunk);
	for (let event = parser.next(); event !== null; event = parser.next()) into.push(event);
	return into;
}

function parse(chunks: readonly Uint8Array[], maxEventBytes?: number) {
	const parser = new SseParser(maxEventBytes);
	const events = chunks.flatMap((chunk) => read(parser, chunk));
	return { events, done: parser.done };
}
const one = (text: string) => parse([bytesOf(text)]);

/** Cuts at the given places, empty chunks among them. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
	const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
	return cuts.slice(1).map((to, index) => bytes.slice(cuts[index], to));
}

describe("events of JSON in a framing that lacks a part", () => {
	const [A, B] = ['{"a":{"b":"}"}}', '{"b":"data: {"}'];
	test.each([
		["one object a line", `${A}\n${B}\n`],
		["one object a line, with blank lines between", `${A}\n\n${B}\n\n`],
		["`data:` twice", `data: data: ${A}\n\ndata: data: ${B}\n\n`],
		["`data:` twice, without blanks", `data:data:${A}\n\ndata:data:${B}\n\n`],
		["no blank line between two", `data: ${A}\ndata: ${B}\n\n`],
		["no blank line between two, and names", `event: x\ndata: ${A}\nid: 1\ndata: ${B}\n\n`],
		["no `data:` for the last", `data: ${A}\n\n${B}\n`],
		["an own field for an error", `data: ${A}\n\nerror: ${B}\n\n`],
	])("come out each: %s", (_name, text) => {
		const bytes = bytesOf(text);
		expect(parse([bytes]).events).toEqual([A, B]);
		expect(parse([...bytes].map((byte) => Uint8Array.of(byte))).events).toEqual([A, B]);
		expect(one(text.replaceAll("\n", "\r\n")).events).toEqual([A, B]);
	});

	test.each([
		["one object a line", `${A}\n[DONE]\n${B}\n`],
		["`data:` twice", `data: data: ${A}\n\ndata: data: [DONE]\n\ndata: ${B}\n\n`],
		["no blank line between two", `data: ${A}\ndata: [DONE]\ndata: ${B}\n`],
	])("end with [DONE]: %s", (_name, text) => {
		expect(one(text)).toEqual({ events: [A], done: true });
	});

	test("and JSON that is set out over several lines stays one event", () => {
		const json = JSON.stringify({ a: [{ b: {} }, { c: [{}] }], d: { e: [] } }, null, 1);
		expect(one(`${json.replaceAll(/^/gm, "data: ")}\n\n`).events).toEqual([json]);
	});

	test("within the bound of an event, in linear work", () => {
		expect(() => parse([bytesOf(`${JSON.stringify({ a: "x".repeat(50) })}\n`)], 20)).toThrow(SseEventTooLarge);
		const lines = (count: number) => bytesOf("data: {\n".repeat(count));
		expect(growth((size) => parse([lines(size)]), 20_000)).toBeLessThan(LINEAR_BOUND);
	});
});

describe("server-sent events", () => {
	test("come out the same wherever the chunks are cut, with any line ends, comments and fields", () => {
		const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
		const dataLines = fc.array(
			fc.string({ unit: fc.constantFrom("a", "é", "😀", "{", ":", " ", "\t"), minLength: 1, maxLength: 8 }),
			{
				minLength: 1,
				maxLength: 3,
			},
		);
		const event = fc.record({
			dataLines,
			lineEnd,
			noise: fc.constantFrom("", ": ping", "event: x", "id: 1", "retry: 5", "datum: no", "dat", "data2: y"),
		});
		fc.assert(
			fc.property(
				fc.array(event, { maxLength: 6 }),
				fc.boolean(),
				fc.array(fc.nat(), { maxLength: 12 }),
				(events, mark, places) => {
					const text = events.map(({ dataLines, lineEnd, noise }) => {
						const lines = [...(noise ? [noise] : []), ...dataLines.map((line) => `data: ${line}`), ""];
						return lines.map((line) => line + lineEnd).join("");
					});
					const whole = bytesOf((mark && events.length > 0 ? "\ufeff" : "") + text.join(""));
					const expected = events.map(({ dataLines }) => dataLines.join("\n"));
					expect(parse(cutAt(whole, places))).toEqual({ events: expected, done: false });
					expect(parse([...whole].map((byte) => Uint8Array.of(byte))).events).toEqual(expected);
				},
			),
			{ numRuns: 400 },
		);
	});

	test("end with [DONE], with or without a space, and nothing after it is read", () => {
		for (const last of ["data: [DONE]\n\n", "data:[DONE]\n\n", "data: [DONE] \r\n\r\n", "data:[DONE]\r\r"])
			expect(one(`data: 1\n\n${last}data: 2\n\n`)).toEqual({ events: ["1"], done: true });
		for (const last of ['data: "[DONE]"\n\n', "data: [done]\n\n"]) expect(one(last).done).toBe(true);
		for (const last of ["data: [DONE]!\n\n", 'data: {"a":"[DONE]"}\n\n']) expect(one(last).done).toBe(false);
	});

	test("without a blank line at the end are incomplete, but for [DONE], which its line end ends", () => {
		expect(one("data: 1\n\ndata: 2\n")).toEqual({ events: ["1"], done: false });
		expect(one("data: 1\n\ndata: 2")).toEqual({ events: ["1"], done: false });
		expect(one("data: [DONE]").done).toBe(false);
		expect(one("data: [DONE]\n").done).toBe(true);
		expect(one("data: x\ndata: [DONE]\n").done).toBe(false);
	});

	test("with no data are not events", () => {
		expect(one(": hello\n\nevent: x\n\n\n\ndata\n\ndata:\n\ndata: \n\ndata: 1\n\n").events).toEqual(["1"]);
	});

	test("keep a space that belongs to the data, and lose just one after the colon", () => {
		expect(one("data:  a \n\n").events).toEqual([" a "]);
	});

	test("treat CR LF cut between two chunks as one line end", () => {
		expect(parse([bytesOf("data: 1\r"), bytesOf("\n"), bytesOf("\r"), bytesOf("\ndata: 2\r\n\r\n")]).events).toEqual(["1", "2"]);
	});

	test("stay what they were when later chunks come: no event is a view of a buffer in use", () => {
		const chunks = ["data: 11", "11\n\ndata: 2", "222\n\ndata: 3", "333\n\n"].map(bytesOf);
		expect(parse(chunks).events).toEqual(["1111", "2222", "3333"]);
	});

	test("keep a byte order mark that is not at the start of the stream, also where a chunk begins with it", () => {
		expect(parse(["\ufeffdata: 1\n", "\n", "data: \ufeff2\n\n"].map(bytesOf)).events).toEqual(["1", "\ufeff2"]);
		expect(parse(["data: 1\n\n", "\ufeffdata: 2\n\n"].map(bytesOf)).events).toEqual(["1"]);
	});

	test("that are no UTF-8 throw, after the events before them and wherever the chunks are cut", () => {
		const good = bytesOf("data: é\n\ndata: 2\r\n\r\n");
		const bad = [...bytesOf("data: "), 0xc3, ...bytesOf("x\n\ndata: 3\n\n")];
		const whole = Uint8Array.from([...good, ...bad]);
		for (let cut = 0; cut <= whole.length; cut++) {
			const parser = new SseParser();
			const events: string[] = [];
			expect(() => {
				read(parser, whole.slice(0, cut), events);
				read(parser, whole.slice(cut), events);
			}, `cut at ${cut}`).toThrow(SseNotUtf8);
			expect(events).toEqual(["é", "2"]);
		}
		expect(parse([Uint8Array.from([...bytesOf("data: 1\n\ndata: [DONE]\n\n"), 0xff, 0x0a])]).done).toBe(true);
	});

	test("whose ends are known are read at once, where what stands between is plain", () => {
		const between = (text: string, max?: number) => {
			const parser = new SseParser(max);
			parser.push(bytesOf(text));
			const found: (string | null)[] = [];
			for (let i = 0; i < 3; i++) found.push(parser.nextBetween('data: ["', '"]\n\n'));
			return [...found.filter((piece) => piece !== null), "|", ...read(parser, bytesOf(""))];
		};
		expect(between('data: ["a"]\n\ndata: ["é😀"]\r\n\r\ndata: [""]\n\n')).toEqual(["a", "é😀", "", "|"]);
		expect(between('data: ["a"]\n\ndata: b\n\ndata: ["c"]\n\n')).toEqual(["a", "|", "b", '["c"]']);
		for (const piece of ['"', "\\", "\t", "\u0000", "\u001f"])
			expect(between(`data: ["${piece}"]\n\n`)).toEqual(["|", `["${piece}"]`]);
		expect(between('data: 1\ndata: ["a"]\n\n')).toEqual(["|", '1\n["a"]']);
		expect(between('data: ["a"]\ndata: 1\n\n')).toEqual(["|", '["a"]\n1']);
		expect(between('data: ["a"]\n')).toEqual(["|"]);
		expect(between('data: [DONE]\n\ndata: ["a"]\n\n')).toEqual(["|"]);
		expect(() => between(`data: ["${"a".repeat(200)}"]\n\n`, 100)).toThrow(SseEventTooLarge);
	});

	test("that begin in one chunk and end in another are read at once too, and not before [DONE] is seen", () => {
		const parser = new SseParser();
		for (const chunk of ['data: ["a', '"]\n', '\ndata: [DONE]\n\ndata: ["b"]\n\n']) parser.push(bytesOf(chunk));
		const between = () => parser.nextBetween('data: ["', '"]\n\n');
		expect(between()).toBe("a");
		expect([between(), parser.next(), parser.done, between()]).toEqual([null, null, true, null]);
	});

	test("over the bound throw, in one line or in many, at once or byte by byte", () => {
		const big = `data: ${"x".repeat(200)}`;
		expect(() => parse([bytesOf(`${big}\n\n`)], 100)).toThrow(SseEventTooLarge);
		expect(() => parse([bytesOf(big)], 100)).toThrow(SseEventTooLarge);
		expect(() => parse([bytesOf("data: xxxx\n".repeat(40))], 100)).toThrow(SseEventTooLarge);
		expect(() =>
			parse(
				[...bytesOf(big)].map((byte) => Uint8Array.of(byte)),
				100,
			),
		).toThrow(SseEventTooLarge);
		expect(parse([bytesOf(`${"data: xxxx\n\n".repeat(400)}: ${"c".repeat(50)}\n`)], 100).events.length).toBe(400);
	});

	test("of many megabytes in small chunks take linear work", () => {
		const piece = new Uint8Array(1000).fill(0x61);
		const run = (pieces: number) => {
			const parser = new SseParser();
			read(parser, bytesOf("data: "));
			for (let i = 0; i < pieces; i++) read(parser, piece);
			expect(read(parser, bytesOf("\n\n"))[0]?.length).toBe(pieces * piece.length);
		};
		expect(growth(run, 16_000)).toBeLessThan(LINEAR_BOUND);
	});
});
