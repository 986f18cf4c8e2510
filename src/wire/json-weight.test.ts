import { describe, expect, test } from "bun:test";
import { refuseHeavyJson } from "./json-weight.ts";

const look = (text: string) => () => refuseHeavyJson(new TextEncoder().encode(text));

describe("JSON that would stop a parser for long", () => {
	test.each([
		["lists in lists, never closed", "[".repeat(30_000_000), "nested"],
		["lists in lists", `{"image":${"[".repeat(600)}${"]".repeat(600)}}`, "nested"],
		["objects in objects", '{"a":'.repeat(600), "nested"],
		["a million keys", `{${'"a":1,'.repeat(300_000)}"b":1}`, "64000 keys"],
		["a million keys with a space behind each", `{${'"a" :1,'.repeat(300_000)}"b":1}`, "64000 keys"],
		["ten million numbers", `{"a":[${"1,".repeat(10_000_000)}1]}`, "256000 values"],
		["many lists in lists, side by side", `[${`${"[".repeat(500)}${"]".repeat(500)},`.repeat(1_000)}1]`, "256000 values"],
		["a million texts", `{"a":[${'"b",'.repeat(1_000_000)}"b"]}`, "256000 values"],
	])("%s is refused", (_, text, why) => expect(look(text)).toThrow(why));

	test.each([
		["as deep as may be", `${"[".repeat(512)}${"]".repeat(512)}`],
		["many lists side by side", `[${"[],".repeat(100_000)}[]]`],
		["signs in texts", JSON.stringify({ a: '[{:,"\\'.repeat(600_000) })],
		["a text that never ends", `{"a":"${"[".repeat(1_000)}`],
		["what is no JSON", "]]]}}}"],
		["nothing", ""],
	])("%s is left to the parser", (_, text) => expect(look(text)).not.toThrow());
});
