import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { decodeBase64Over } from "./base64-bytes.ts";
import { atOnce } from "./in-turns.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const decode = (text: string) => atOnce(decodeBase64Over(bytesOf(text)));

test("decodes what it encodes, of any length, over the text itself", () => {
	for (const length of [0, 1, 2, 3, 4, 5, 786_431, 786_432, 786_433, 2_000_000]) {
		const bytes = randomBytes(length);
		const text = bytesOf(bytes.toString("base64"));
		const decoded = atOnce(decodeBase64Over(text));
		expect(decoded?.length).toBe(length);
		expect(bytes.equals(decoded ?? new Uint8Array(1))).toBe(true);
		if (length > 0) expect(decoded?.buffer).toBe(text.buffer);
		expect(bytes.equals(decode(bytes.toString("base64url")) ?? new Uint8Array(1))).toBe(true);
	}
});

test("takes line ends, escapes of JSON, and no padding", () => {
	const bytes = randomBytes(1_000_000);
	const text = bytes.toString("base64");
	const lines = text.match(/.{1,76}/g) ?? [];
	for (const form of [
		lines.join("\n"),
		`${lines.join("\r\n")}\r\n`,
		lines.join("\\n"),
		text.replaceAll("/", "\\/"),
		text.replaceAll("+", "\\u002B").replaceAll("/", "\\u002f").replaceAll("=", "\\u003d"),
		text.replace(/=+$/, ""),
	])
		expect(bytes.equals(decode(form) ?? new Uint8Array(1))).toBe(true);
});

test("takes escapes and line ends that begin late", () => {
	for (const size of [1_572_864, 1_572_865, 1_600_000]) {
		const bytes = Buffer.concat([Buffer.alloc(size), Buffer.from("fb efbf fff0 fb".replaceAll(" ", ""), "hex")]);
		const text = bytes.toString("base64");
		for (const form of [text.replaceAll("/", "\\/"), text.replaceAll("+", "\\u002b"), `${text}\r\n`, `${text}\\n`])
			expect(bytes.equals(decode(form) ?? new Uint8Array(1))).toBe(true);
	}
});

test.each(["a", "ab!d", "abcde", "====", "ab=cd", "\u00e4\u00f6", "<svg/>", `${"A".repeat(2_000_000)}!AAA`])(
	"refuses what is no base64",
	(text) => expect(decode(text)).toBeNull(),
);
