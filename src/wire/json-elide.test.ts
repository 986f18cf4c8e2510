import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../errors/index.ts";
import { elideLongStrings } from "./json-elide.ts";
import { LongStrings } from "./long-strings.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
/** What a cut string has before its mark. */
const unmarked = (text: string) => text.replace(/\[cut [0-9a-f]{32} \d+\]$/, "");
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
					const { json, elided } = elideLongStrings(bytes, 30, keep);
					const long = new LongStrings(bytes, elided);
					const strings = (value: unknown): string[] =>
						typeof value === "string"
							? [value]
							: Object.entries(value as object).flatMap(([key, item]) => [key, ...strings(item)]);
					const before = strings(JSON.parse(textOf(bytes)));
					const after = strings(JSON.parse(textOf(json)));
					expect(after.length).toBe(before.length);
					let cuts = 0;
					for (const [index, whole] of before.entries()) {
						const writtenBytes = bytesOf(JSON.stringify(whole)).length - 2;
						if (writtenBytes <= 30) expect(after[index]).toBe(whole);
						else {
							expect(after[index]).toMatch(/\[cut [0-9a-f]{32} \d+\]$/);
							expect(whole.startsWith(unmarked(after[index] ?? "?"))).toBe(true);
							expect(long.textOf(after[index] ?? "")).toBe(whole);
							expect(long.bytesOf(after[index] ?? "")).toBe(writtenBytes);
							expect(elided[cuts++]?.bytes).toBe(writtenBytes);
						}
					}
					expect(elided.length).toBe(cuts);
					for (const cut of elided) expect(cut.keptBytes).toBeGreaterThan(keep - 6);
					for (const cut of elided) expect(cut.keptBytes).toBeLessThanOrEqual(keep);
				},
			),
			{ numRuns: 600 },
		);
	});

	test("never cuts inside a \\u escape", () => {
		const bytes = bytesOf(`{"a":"${"\\u00e9".repeat(10)}"}`);
		for (let keep = 1; keep <= 30; keep++) {
			const { a } = JSON.parse(textOf(elideLongStrings(bytes, 30, keep).json)) as { a: string };
			expect(unmarked(a)).toBe("é".repeat(Math.floor(keep / 6)));
		}
	});

	test("gives the same bytes back where nothing is long", () => {
		const bytes = bytesOf(JSON.stringify({ a: "x".repeat(1000) }));
		expect(elideLongStrings(bytes).json).toBe(bytes);
		const many = bytesOf(JSON.stringify(Array.from({ length: 400 }, () => "x".repeat(1000))));
		expect(elideLongStrings(many).json).toBe(many);
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
				const cut = () => JSON.parse(textOf(elideLongStrings(bytes, 20, 10).json)) as { z?: number };
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
			expect(elideLongStrings(body(`${filler}\\u00e9\\\\z`), 20, 10).elided.length).toBe(1);
			for (const bad of ["\\x", "\t", "\\u00x9"]) {
				expect(() => elideLongStrings(body(`${filler}${bad}`), 20, 10), `${before} ${bad}`).toThrow(ApiError);
				expect(() => elideLongStrings(body(`${filler}${bad}${filler}`), 20, 10), `${before} ${bad}`).toThrow(ApiError);
			}
		}
	});

	test("a value made anew of cut strings is written with the bytes of the whole ones", () => {
		const piece = fc.constantFrom("a", "é", "😀", '"', "\\", "\n", "\u2028");
		const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));
		fc.assert(
			fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (texts, keep) => {
				const bytes = bytesOf(JSON.stringify({ texts }));
				const { json, elided } = elideLongStrings(bytes, 20, keep);
				const parsed = JSON.parse(textOf(json)) as { texts: string[] };
				const made = (of: readonly string[]) => ({ z: of.map((item, index) => ({ [`k${index}`]: `data:x;${item}` })), end: "é" });
				const written = new LongStrings(bytes, elided).write(made(parsed.texts));
				expect(JSON.parse(textOf(written))).toEqual(made(texts));
			}),
		);
	});

	test("takes any bytes: an error of ours or none", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
				try {
					elideLongStrings(bytes, 10, 5);
				} catch (error) {
					expect(error).toBeInstanceOf(ApiError);
				}
			}),
		);
		expect(elideLongStrings(bytesOf(`{"a":"${"x".repeat(100)}`), 10, 5).elided).toEqual([]);
	});

	test("makes a body of 70 MB small enough to parse on the loop", () => {
		const body = bytesOf(`{"messages":[{"role":"user","content":"${"QUJD".repeat(17_000_000)}"}],"z":1}`);
		const { json, elided } = elideLongStrings(body);
		expect(json.length).toBeLessThan(70_000);
		expect(elided.map((cut) => cut.bytes)).toEqual([68_000_000]);
		expect(JSON.parse(textOf(json)).z).toBe(1);
	});
});
