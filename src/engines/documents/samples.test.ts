import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { extractText } from "./extract.ts";

const SAMPLES = join(import.meta.dir, "../../../test/samples");
const sample = (name: string) => readFileSync(join(SAMPLES, name));
const read = (name: string) => extractText(sample(name), name, { readScan: null });

/** In the order of the page. */
const MARKERS = [
	"This is the header text.",
	"Footnote appears here",
	"Bold",
	"Here is a list:",
	"Bullet 1",
	"Here is a numbered list:",
	"Number bullet 1",
	"Keyword1 Keyword2",
	"This is a hyperlink",
	"Subject is here",
	"Row 1 Col 1",
	"Row 2 Col 2",
	"ゾルゲと尾崎、淡々と最期",
	"（ＧＨＱ）",
	"And then some Gothic text",
	"This is the footer text.",
];
/** A page may have these at its foot or its side. */
const ANYWHERE = ["This is a footnote", "Here is a text box"];

function expectInOrder(text: string, markers: readonly string[]): void {
	let at = 0;
	for (const marker of markers) {
		const found = text.indexOf(marker, at);
		expect(found, `${marker} after ${JSON.stringify(text.slice(Math.max(0, at - 40), at))}`).toBeGreaterThanOrEqual(0);
		at = found + marker.length;
	}
}

test.each(["testWORD_various.docx", "testRTFVarious.rtf", "testPDFVarious.pdf"])(
	"%s gives all its texts in the order of the page",
	async (name) => {
		const text = await read(name);
		expectInOrder(text, MARKERS);
		for (const marker of ANYWHERE) expect(text).toContain(marker);
		expect(text).toContain(
			"| Row 1 Col 1 | Row 1 Col 2 | Row 1 Col 3 |\n| --- | --- | --- |\n| Row 2 Col 1 | Row 2 Col 2 | Row 2 Col 3 |",
		);
		expect(text).toContain("[This is a hyperlink](http://tika.apache.org");
	},
);

test("a slide gives all its texts", async () => {
	const text = await read("testPPT_various.pptx");
	for (const marker of [...MARKERS, ...ANYWHERE].filter((marker) => !/header text|footer text/.test(marker)))
		expect(text).toContain(marker);
	expect(text).toContain("| Row 1 Col 1 | Row 1 Col 2 | Row 1 Col 3 |");
	expect(text).toStartWith("## Slide 1");
});

test.each(["testWORD_various.docx", "testRTFVarious.rtf"])(
	"notes of %s follow their paragraph, before its text box",
	async (name) => {
		expectInOrder(await read(name), ["Footnote appears here[^", "]: This is a footnote.", "Here is a text box", "Bold"]);
	},
);

test("a sheet gives its name and its values as they are shown", async () => {
	const text = await read("testEXCEL-formats.xlsx");
	expect(text).toStartWith("## Format Examples");
	for (const shown of [
		"1,599.99",
		"-1,599.99",
		"$1,599.99",
		"($1,599.99)",
		"1.98E+08",
		"3%",
		"2.50%",
		"2 1/2",
		"6:15 AM",
		"18:15",
		"10/3/2009",
		"17-May-07",
		"1/19/2008 4:35",
		"19 dollars and .99 cents",
		"At 4:20 AM on Thursday May 17, 2007",
	])
		expect(text).toContain(`| ${shown} |`);
});

test("an old Word document gives its text; with a password it is refused, and so is a new one", async () => {
	expectInOrder(await read("harmless-clean.doc"), ["Test", "This is a harmless test document.", "ünicöde-ßtringß"]);
	for (const name of ["encrypted.doc", "encrypted.docx"])
		await expect(read(name), name).rejects.toMatchObject({ kind: "encrypted" });
});

test("an old workbook, an old presentation and Outlook's mail give their texts in order", async () => {
	expectInOrder(await read("workbook.xls"), [
		"## Comments",
		"| Fish & chips | 1,234.50 EUR | 4 Mar 2026 |",
		"Comment on A2",
		"deep",
	]);
	expectInOrder(await read("slides.ppt"), ["Slide title 0", "> Notes: Sentence 70", "## Slide 4", "| t5r1c0 harbour |"]);
	expectInOrder(await read("mail.msg"), ["Bob <bob@example.com>", "# Hello", "workbook.xls", "4 Mar 2026", "attached note"]);
});

test("text is read in its encoding", async () => {
	expect(await read("latin1.txt")).toBe("Café déjà vu — naïve");
	expect(await read("utf16.txt")).toBe("Grüße aus Köln 東京");
});

test("a bomb is refused by what it declares, without being inflated", async () => {
	const bomb = sample("x_bomb.docx");
	const before = process.memoryUsage.rss();
	await expect(extractText(bomb, "x_bomb.docx", { readScan: null })).rejects.toMatchObject({ kind: "too-large" });
	expect(process.memoryUsage.rss() - before).toBeLessThan(50 * 2 ** 20);
});

test("a file that is cut off is refused", async () => {
	await expect(read("x_truncated.docx")).rejects.toMatchObject({ kind: "corrupt" });
	for (const name of ["testPPT_various.pptx", "testEXCEL-formats.xlsx", "testRTFVarious.rtf"]) {
		const bytes = sample(name);
		await expect(extractText(bytes.subarray(0, bytes.length / 2), name, { readScan: null }), name).rejects.toMatchObject({
			kind: "corrupt",
		});
	}
});

test("the content tells the type, whatever the name says", async () => {
	const text = await extractText(sample("testWORD_various.docx"), "letter.pdf", { readScan: null });
	expect(text).toContain("This is the header text.");
	expect(await extractText(sample("testPDFVarious.pdf"), "data.csv", { readScan: null })).toContain("This is a hyperlink");
});
