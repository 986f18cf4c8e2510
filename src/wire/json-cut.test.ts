import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../errors/index.ts";
import { atOnce } from "./in-turns.ts";
import { ANSWER_BOUNDS, BODY_BOUNDS, cutJson, type JsonBounds } from "./json-cut.ts";
import { LongStrings } from "./long-strings.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
/** What a cut string has before its mark. */
const unmarked = (text: string) => text.replace(/\[cut [0-9a-f]{32} \d+\]$/, "");
/** Cuts strings of more than `longerThan` bytes, within bounds that the test does not reach. */
const cutLong = (bytes: Uint8Array, longerThan: number, keep: number) =>
	atOnce(cutJson(bytes, BODY_BOUNDS, { longerThan, keep }));
const textOf = (bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);

describe("cutting long strings out of JSON", () => {
	test("leaves valid JSON whose strings are beginnings of the real ones, escapes and UTF-8 whole", () => {
		const piece = fc.constantFrom("a", "é", "€", "😀", '"', "\\", "\n", "\u0001", "\u2028");
		const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));
		fc.assert(
			fc.property(
				fc.dictionary(fc.string({ maxLength: 3 }), fc.oneof(text, fc.array(text))),
				fc.integer({ min: 1, max: 30 }),
				(object, keep) => {
					const bytes = bytesOf(JSON.stringify(object));
					const { json, cuts } = cutLong(bytes, 30, keep);
					const long = new LongStrings(bytes, cuts);
					const strings = (value: unknown): string[] =>
						typeof value === "string"
							? [value]
							: Object.entries(value as object).flatMap(([key, item]) => [key, ...strings(item)]);
					const before = strings(JSON.parse(textOf(bytes)));
					const after = strings(JSON.parse(textOf(json)));
					expect(after.length).toBe(before.length);
					let count = 0;
					for (const [index, whole] of before.entries()) {
						const writtenBytes = bytesOf(JSON.stringify(whole)).length - 2;
						if (writtenBytes <= 30) expect(after[index]).toBe(whole);
						else {
							expect(after[index]).toMatch(/\[cut [0-9a-f]{32} \d+\]$/);
							expect(whole.startsWith(unmarked(after[index] ?? "?"))).toBe(true);
							expect(long.textOf(after[index] ?? "")).toBe(whole);
							expect(long.bytesOf(after[index] ?? "")).toBe(writtenBytes);
							expect(cuts[count++]?.bytes).toBe(writtenBytes);
						}
					}
					expect(cuts.length).toBe(count);
					for (const cut of cuts) expect(cut.keptBytes).toBeGreaterThan(keep - 6);
					for (const cut of cuts) expect(cut.keptBytes).toBeLessThanOrEqual(keep);
				},
			),
			{ numRuns: 600 },
		);
	});

	test("never cuts inside a \\u escape", () => {
		const bytes = bytesOf(`{"a":"${"\\u00e9".repeat(10)}"}`);
		for (let keep = 1; keep <= 30; keep++) {
			const { a } = JSON.parse(textOf(cutLong(bytes, 30, keep).json)) as { a: string };
			expect(unmarked(a)).toBe("é".repeat(Math.floor(keep / 6)));
		}
	});

	test("gives the same bytes back where nothing is long", () => {
		const bytes = bytesOf(JSON.stringify({ a: "x".repeat(1000) }));
		expect(atOnce(cutJson(bytes, BODY_BOUNDS)).json).toBe(bytes);
		const many = bytesOf(JSON.stringify(Array.from({ length: 400 }, () => "x".repeat(1000))));
		expect(atOnce(cutJson(many, BODY_BOUNDS)).json).toBe(many);
	});

	test("refuses in the rest of a long string what a parser of the whole would refuse, and nothing else", () => {
		const piece = fc.constantFrom("a", "é", "😀", "\\n", "\\\\", '\\"', "\\/", "\\u00eF", "\\ud800", "\u007f", "\u2028");
		const odd = fc.constantFrom("\\x", "\\u12g4", "\\u123", "\\u", "\n", "\u0000", "\u001f", "\\ ", "", "", "");
		fc.assert(
			fc.property(fc.array(piece), odd, fc.array(piece), fc.array(fc.nat(), { maxLength: 2 }), (before, bad, after, noise) => {
				const long = `${"x".repeat(64)}${before.join("")}${bad}${after.join("")}`;
				const bytes = bytesOf(`{"a":"${long}","z":1}`);
				const last = bytes.lastIndexOf(0x22, bytes.length - 6) - 2;
				for (const at of noise) if (at % 3 === 0) bytes[70 + (at % (last - 70))] = 0x80 + (at % 0x80);
				let whole: { z?: number } | null = null;
				try {
					whole = JSON.parse(textOf(bytes)) as { z: number };
				} catch {
					// Broken: so must the copy be.
				}
				const cut = () => JSON.parse(textOf(cutLong(bytes, 20, 10).json)) as { z?: number };
				if (whole === null) expect(cut).toThrow();
				else expect(cut().z).toBe(whole.z);
			}),
			{ numRuns: 1500 },
		);
	});

	test("finds what is broken at any place of a piece, and takes escapes across its border", () => {
		const body = (content: string) => bytesOf(`["${"x".repeat(10)}${content}"]`);
		for (let before = 65_520; before < 65_550; before++) {
			const filler = "y".repeat(before);
			expect(cutLong(body(`${filler}\\u00e9\\\\z`), 20, 10).cuts.length).toBe(1);
			for (const bad of ["\\x", "\t", "\\u00x9"]) {
				expect(() => cutLong(body(`${filler}${bad}`), 20, 10), `${before} ${bad}`).toThrow(ApiError);
				expect(() => cutLong(body(`${filler}${bad}${filler}`), 20, 10), `${before} ${bad}`).toThrow(ApiError);
			}
		}
	});

	test("a value made anew of cut strings is written with the bytes of the whole ones", () => {
		const piece = fc.constantFrom("a", "é", "😀", '"', "\\", "\n", "\u2028");
		const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));
		fc.assert(
			fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (texts, keep) => {
				const bytes = bytesOf(JSON.stringify({ texts }));
				const { json: copy, cuts } = cutLong(bytes, 20, keep);
				const parsed = JSON.parse(textOf(copy)) as { texts: string[] };
				const made = (of: readonly string[]) => ({ z: of.map((item, index) => ({ [`k${index}`]: `data:x;${item}` })), end: "é" });
				const long = new LongStrings(bytes, cuts);
				const json = bytesOf(JSON.stringify(made(parsed.texts)));
				const written = atOnce(long.whole(json));
				expect(long.sizeIn(json, 0, json.length)).toBe(written.length);
				expect(JSON.parse(textOf(written))).toEqual(made(texts));
			}),
		);
	});

	test("takes any bytes: an error of ours or none", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
				try {
					cutLong(bytes, 10, 5);
				} catch (error) {
					expect(error).toBeInstanceOf(ApiError);
				}
			}),
		);
		expect(() => cutLong(bytesOf(`{"a":"${"x".repeat(100)}`), 10, 5)).toThrow("a string has no end");
	});

	test("makes a body of 70 MB small enough to parse on the loop", () => {
		const body = bytesOf(`{"messages":[{"role":"user","content":"${"QUJD".repeat(17_000_000)}"}],"z":1}`);
		const { json, cuts } = atOnce(cutJson(body, BODY_BOUNDS));
		expect(json.length).toBeLessThan(70_000);
		expect(cuts.map((cut) => cut.bytes)).toEqual([68_000_000]);
		expect(JSON.parse(textOf(json)).z).toBe(1);
	});
});

describe("JSON that would stop a parser for long", () => {
	const look =
		(text: string, bounds: JsonBounds = BODY_BOUNDS) =>
		() =>
			void atOnce(cutJson(bytesOf(text), bounds));
	const different = (count: number) => `[${Array.from({ length: count }, (_, index) => `{"k${index}":1}`).join(",")}]`;

	test.each([
		["lists in lists, never closed", "[".repeat(30_000_000), "nested"],
		["lists in lists", `{"image":${"[".repeat(600)}${"]".repeat(600)}}`, "nested"],
		["objects in objects", '{"a":'.repeat(600), "nested"],
		["a million keys", `{${'"a":1,'.repeat(300_000)}"b":1}`, "64000 keys"],
		["a million keys with a space behind each", `{${'"a" :1,'.repeat(300_000)}"b":1}`, "64000 keys"],
		["ten million numbers", `{"a":[${"1,".repeat(10_000_000)}1]}`, "256000 values"],
		["many lists in lists, side by side", `[${`${"[".repeat(500)}${"]".repeat(500)},`.repeat(1_000)}1]`, "256000 values"],
		["a million texts", `{"a":[${'"b",'.repeat(1_000_000)}"b"]}`, "256000 values"],
		["many megabytes of short texts", `["${"a".repeat(30_000)}"${`,"${"a".repeat(30_000)}"`.repeat(600)}]`, "16777216 bytes"],
		["many megabytes of white space", `[1${" ".repeat(17_000_000)}]`, "16777216 bytes"],
		["a number of a megabyte", `[${"1".repeat(1_000_000)}]`, "1024 characters"],
	])("%s is refused", (_, text, why) => expect(look(text)).toThrow(why));

	test("an answer may have many keys, but not many different ones", () => {
		expect(look(`[${'{"token":1,"logprob":2},'.repeat(300_000)}1]`, ANSWER_BOUNDS)).not.toThrow();
		expect(look(different(60_000), ANSWER_BOUNDS)).not.toThrow();
		expect(look(different(70_000), ANSWER_BOUNDS)).toThrow("64000 different keys");
	});

	test.each([
		["as deep as may be", `${"[".repeat(512)}${"]".repeat(512)}`],
		["many lists side by side", `[${"[],".repeat(100_000)}[]]`],
		["signs in texts", JSON.stringify({ a: '[{:,"\\'.repeat(600_000) })],
		["what is no JSON", "]]]}}}"],
		["nothing", ""],
	])("%s is left to the parser", (_, text) => expect(look(text)).not.toThrow());
});

describe("a string that was cut", () => {
	const content = `${"é\\n".repeat(20_000)}${"x".repeat(100_000)}end`;
	const bytes = bytesOf(`{"a":"${content}"}`);
	const { json, cuts } = cutLong(bytes, 1_000, 100);
	const long = new LongStrings(bytes, cuts);
	const { a } = JSON.parse(textOf(json)) as { a: string };
	const whole = JSON.parse(`"${content}"`) as string;

	test("has its beginning, its end and its size", () => {
		expect(whole.startsWith(long.startOf(a, 5_000))).toBe(true);
		expect(long.startOf(a, 5_000).length).toBeGreaterThan(1_000);
		expect(long.endOf(a, 2_000)).toBe(whole.slice(-2_000));
		expect(atOnce(long.textBytesOf(a))).toBe(Buffer.byteLength(whole));
		expect(long.textOf(`before ${a}`)).toBe(`before ${whole}`);
	});

	test("is found whole also where the body was written over", () => {
		const copy = new LongStrings(bytes.slice(), cuts);
		copy.viewOf(a)?.bytes.fill(0xff);
		expect(copy.bytesOf(`before ${a}`)).toBe(7 + Buffer.byteLength(content));
	});

	test("of many parts of others is refused", () => {
		const huge = bytesOf(JSON.stringify(Array(9).fill("y".repeat(2_000_000))));
		const cut = cutLong(huge, 1_000, 100);
		const strings = new LongStrings(huge, cut.cuts);
		const texts = JSON.parse(textOf(cut.json)) as string[];
		expect(() => texts.map((text) => strings.partTextOf(text))).toThrow("4194304 bytes together");
	});
});
