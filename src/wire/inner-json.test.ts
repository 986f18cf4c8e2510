import { expect, test } from "bun:test";
import { innerJson } from "./inner-json.ts";
import { MAX_JSON_DEPTH } from "./json-scan.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test("what JSON.parse takes is the same value, from text and from bytes", () => {
	for (const text of ["{}", " \n[1, 2.5e1, null]\t", '{"a":{"b":["é\\n😀"]}}', "5", '"x"', nested(MAX_JSON_DEPTH)]) {
		expect(innerJson(text)).toEqual(JSON.parse(text));
		expect(innerJson(Buffer.from(text))).toEqual(JSON.parse(text));
	}
});

test("what is no JSON, and what nests more deeply than a body may, is refused", () => {
	for (const text of [
		"",
		" ",
		"{",
		"{} x",
		"[1,,2]",
		"nul",
		"'a'",
		nested(MAX_JSON_DEPTH + 1),
		nested(400_000),
		"[".repeat(400_000),
	])
		expect(() => innerJson(text), text.slice(0, 20)).toThrow();
});
