import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MAX_JSON_DEPTH } from "./json-scan.ts";
import { StrictJson } from "./strict-json.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** True if it is one whole JSON value, by the scanner. */
function accepts(text: string): boolean {
	const bytes = bytesOf(text);
	return new StrictJson(bytes).endOfValue(0) === bytes.length;
}

/** The same by the parser; white space around it is not the scanner's. */
function parses(text: string): boolean {
	try {
		JSON.parse(text);
		return text.trim() === text;
	} catch {
		return false;
	}
}

const PIECES = [
	...["{", "}", "[", "]", ",", ":", '"', "\\", '\\"', "\\u00e9", "\\ud800", "\\u12", "\\x", "\\n", "\t", " ", "\n", "\u0000"],
	...["0", "1", "-", "+", ".", "e", "E", "01", "1e5", "-0", "1.50", "1e", ".5", "true", "fals", "null", "nul", "NaN", "é", "😀"],
	...['"a"', '"b":', "[1,2]", '{"a":1}', "[]", "{}", "a".repeat(70), "\\u0041".repeat(12), "\ufeff", "\u00a0", "\u2028"],
];

describe("the strict scanner", () => {
	test("takes any JSON whole, however it is spaced", () => {
		fc.assert(
			fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t"), (json, space) => {
				const text = JSON.stringify(JSON.parse(json), null, space);
				expect(accepts(text)).toBe(true);
				expect(accepts(json.trim())).toBe(true);
			}),
			{ numRuns: 1000 },
		);
	});

	test("takes of any pieces of JSON what the parser takes, and nothing else", () => {
		fc.assert(
			fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }), (pieces) => {
				const text = pieces.join("");
				expect([text, accepts(text)]).toEqual([text, parses(text)]);
			}),
			{ numRuns: 20_000 },
		);
	});

	test("takes of JSON with one character changed, added or left out what the parser takes", () => {
		const change = fc.record({ at: fc.nat(), cut: fc.nat({ max: 2 }), add: fc.constantFrom("", ...PIECES) });
		fc.assert(
			fc.property(fc.json({ maxDepth: 3 }), change, (json, { at, cut, add }) => {
				const place = at % (json.length + 1);
				const text = json.slice(0, place) + add + json.slice(place + cut);
				expect([text, accepts(text)]).toEqual([text, parses(text)]);
			}),
			{ numRuns: 20_000 },
		);
	});

	test("reads strings of any length the same way", () => {
		fc.assert(
			fc.property(fc.nat({ max: 140 }), fc.constantFrom(...PIECES), fc.nat({ max: 140 }), (before, piece, after) => {
				const text = `"${"x".repeat(before)}${piece}${"y".repeat(after)}"`;
				expect([text, accepts(text)]).toEqual([text, parses(text)]);
			}),
			{ numRuns: 5_000 },
		);
	});

	test("says where it is no JSON", () => {
		const scan = new StrictJson(bytesOf('{"a": [1, 2,]}'));
		expect(scan.endOfValue(0)).toBe(-1);
		expect(scan.faultAt).toBe(12);
	});

	test("refuses nesting, keys and values past the limit, and takes what is just within", () => {
		const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
		expect(accepts(nested(MAX_JSON_DEPTH))).toBe(true);
		expect(() => accepts(nested(MAX_JSON_DEPTH + 1))).toThrow("levels deep");
		expect(() => accepts("[".repeat(5_000_000))).toThrow("levels deep");
		const keys = (count: number) => `{${'"":0,'.repeat(count - 1)}"":0}`;
		expect(accepts(keys(64_000))).toBe(true);
		expect(() => accepts(keys(64_001))).toThrow("keys");
		const values = (count: number) => `[${Array(count).fill("1").join(",")}]`;
		expect(accepts(values(256_000))).toBe(true);
		expect(() => accepts(values(256_001))).toThrow("values");
		expect(() => accepts(`[${Array(128_001).fill("[]").join(",")}]`)).toThrow("values");
	});

	test("comes to an end at once where the text breaks off", () => {
		const text = '{"a":[true,false,null,-1.5e+3,"b\\u00e9\\n"],"c":{"d":[]}}';
		for (let end = 0; end < text.length; end++) expect(accepts(text.slice(0, end))).toBe(false);
		expect(accepts(text)).toBe(true);
	});
});
