import { expect, test } from "bun:test";
import { csvLine } from "./csv.ts";
import { decimalText } from "./decimal.ts";

test("quotes only what needs it, and doubles quotes", () => {
	expect(csvLine(["a", "b c", 'say "hi"', "x,y", "two\r\nlines", "", null])).toBe(
		'a,b c,"say ""hi""","x,y","two\r\nlines",,\r\n',
	);
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", "\n=1"])("%j is text to a spreadsheet", (text) => {
	const cell = csvLine([text]).slice(0, -2).replace(/^"/, "");
	expect(cell.startsWith("'")).toBe(true);
});

test("our own numbers keep their sign", () => {
	expect(csvLine([-3, { plain: "-0.0003" }, "a-b", "1=1"])).toBe("-3,-0.0003,a-b,1=1\r\n");
});

test("keeps every character of other scripts", () => {
	expect(csvLine(["Zürich 東京 😀"])).toBe("Zürich 東京 😀\r\n");
});

test.each([
	[0, 0, "0"],
	[0, 9, "0"],
	[1, 9, "0.000000001"],
	[1_500_000_000, 9, "1.5"],
	[1e21, 0, "1000000000000000000000"],
	[Number.MAX_SAFE_INTEGER, 12, "9007.199254740991"],
	[1200, 0, "1200"],
])("%p of 10^-%p is %p", (value, places, text) => {
	expect(decimalText(value, places)).toBe(text);
});
