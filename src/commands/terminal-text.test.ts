import { expect, test } from "bun:test";
import { forTerminal, forTerminalJson } from "./terminal-text.ts";

test("text of others neither drives the terminal nor leaves its line", () => {
	expect(forTerminal("\x1b[2J\x1b]0;x\x07 a\nb\tc \x9b31m\x7f \u202eabc\u2066 \u2028")).toBe(
		"\\u001b[2J\\u001b]0;x\\u0007 a\\u000ab\\u0009c \\u009b31m\\u007f \\u202eabc\\u2066 \\u2028",
	);
	expect(forTerminal("a\n\tb\r\x1b", "lines")).toBe("a\n\tb\\u000d\\u001b");
	expect(forTerminal("Größe, 大きさ, حجم, 👩‍🚀")).toBe("Größe, 大きさ, حجم, 👩‍🚀");
});

test("JSON stays the same document", () => {
	const value = { name: "\x1b[2J \x9b \x7f \u202e \u2029 \n é" };
	const text = forTerminalJson(JSON.stringify(value, null, 2));
	expect(JSON.parse(text)).toEqual(value);
	expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u2028-\u202e]/u);
});
