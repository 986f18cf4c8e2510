import { expect, test } from "bun:test";
import fc from "fast-check";
import { JsonValueEnd, NotJson } from "./json-value-end.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Feeds the text in pieces; the index of the value's end in the whole, or -1. */
function endOf(text: string, cuts: readonly number[]): number {
	const bytes = bytesOf(text);
	const value = new JsonValueEnd();
	const borders = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
	let from = 0;
	for (const to of [...borders, bytes.length]) {
		const end = value.feed(bytes.subarray(from, to), 0);
		if (end >= 0) return from + end;
		from = to;
	}
	return -1;
}

test("the end of any value is found, wherever its bytes are cut", () => {
	fc.assert(
		fc.property(fc.json(), fc.array(fc.nat()), fc.constantFrom(",", "}", "]", " ,"), (json, cuts, after) => {
			expect(endOf(json + after, cuts)).toBe(bytesOf(json).length);
		}),
	);
});

test("escapes at every border are no ends", () => {
	for (const text of [String.raw`"a\\"`, String.raw`"\"\\\"x"`, String.raw`["\\","\""]`, `"${String.raw`\"`.repeat(100)}"`])
		for (let cut = 0; cut < text.length; cut++) expect(endOf(`${text},`, [cut])).toBe(text.length);
});

test("a value that does not end is not ended", () => {
	for (const text of ['"abc', '{"a":[1,2', "[", '"\\', "tru", "12"]) expect(endOf(text, [1])).toBe(-1);
});

test("what is no value is refused", () => {
	for (const text of ["[}", '{"a":1]', "undefined,", "NaN}", "01,", "+1,", "nul ", ",", "}", `${"1".repeat(2_000)},`, "]"])
		expect(() => endOf(text, [])).toThrow(NotJson);
});

test("deep nesting passes up to a bound", () => {
	expect(endOf("[".repeat(10_000) + "]".repeat(10_000), [777])).toBe(20_000);
	expect(() => endOf("[".repeat(20_000), [])).toThrow(NotJson);
});
