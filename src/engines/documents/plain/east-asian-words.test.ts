import { expect, test } from "bun:test";
import { encodingByWords } from "./east-asian-words.ts";

const read = (hex: string) => encodingByWords(new Uint8Array(Buffer.from(hex, "hex")));

test.each([
	["windows-1251", "cae8f2e0e9f1eae8e92cc8ede4eeede5e7e8e9f1eae8e90ac0d0ccc5cdc8df"],
	["KOI8-R", "fac9cdc2c1c2d7c50aedc1d2d4c9cec9cbc1"],
	["ISO 8859-5, capitals", "bab8c2b0b9c1bab8b9"],
	["windows-1253", "c9c1d0d9cdc9caa22ccac1d4a2cdc3cac1"],
	["windows-1256", "ccd2d120ddc7d1e60ac8d1e3e6cfc7"],
	["windows-874", "cae2c5c7d5e0b9d5c20ab5cda7a1d2"],
	["windows-1252", Buffer.from("\xc4\xd6\xdc \xe9t\xe9 h\xe9l\xe8ne na\xefve", "latin1").toString("hex")],
])("a text in %s is none of East Asia", (_, hex) => {
	expect(read(hex)).toBeNull();
});

test("a text that two encodings may have written, or too short a one, is left open", () => {
	// Laughs of Korean letters are Hiragana in EUC-JP.
	expect(read("a4bba4bba4bba4bb")).toBeNull();
	expect(read("c4e3bac3")).toBeNull();
	expect(read("")).toBeNull();
});

test("a sample that ends within a character is told all the same", () => {
	expect(read("ccbec1b02cc7afcef00abbb3c5c42c33300ab4")).toBe("euc-jp");
});
