import { expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import { type PdfPage, pdfFile } from "../../../../test/support/pdf-file.ts";
import { extractText } from "../extract.ts";
import type { ReadScan } from "./scan-reader.ts";

const read = (pages: readonly PdfPage[], catalog = "", readScan: ReadScan | null = null) =>
	extractText(pdfFile(pages, catalog), "file.pdf", { readScan });

/** Lines below each other. */
const column = (x: number, y: number, texts: readonly string[], size = 11) =>
	texts.map((text, index) => ({ x, y: y - index * size * 1.2, text, size }));

const LEFT = [
	"The left column tells the first part of",
	"the story and goes on for several lines",
	"that are all about as long as this one",
	"until the column comes to its very end.",
];
const RIGHT = [
	"The right column tells the second part",
	"and is read only when the left column",
	"has been read from its top to its foot",
	"which is the order that readers take.",
];

test("columns are read one after the other, whichever way the file writes them", async () => {
	const whole = [...column(50, 700, LEFT), ...column(320, 700, RIGHT)];
	const byLines = LEFT.flatMap((text, index) => [
		{ x: 50, y: 700 - index * 13.2, text },
		{ x: 320, y: 700 - index * 13.2, text: RIGHT[index] ?? "" },
	]);
	const title = { x: 50, y: 760, text: "A title over both of the columns of the page", size: 18 };
	for (const lines of [whole, byLines, [...column(320, 700, RIGHT), ...column(50, 700, LEFT)]])
		expect(await read([{ lines: [title, ...lines] }])).toBe(`# ${title.text}\n\n${LEFT.join(" ")}\n\n${RIGHT.join(" ")}`);
});

test("paragraphs of two lines in columns stay whole below a text that is wider", async () => {
	const wide = {
		x: 50,
		y: 760,
		text: "A text over both of the columns, which is much wider than either of them is, and says so.",
	};
	const pairs = (x: number, side: string) =>
		[700, 660].flatMap((y) => column(x, y, [`${side} paragraph at ${y} has a first line`, "and then a second one."]));
	const text = await read([{ lines: [wide, ...pairs(50, "Left"), ...pairs(320, "Right")] }]);
	const whole = (side: string) => [700, 660].map((y) => `${side} paragraph at ${y} has a first line and then a second one.`);
	expect(text).toBe([wide.text, ...whole("Left"), ...whole("Right")].join("\n\n"));
});

test("what a page prints at its foot comes after its columns", async () => {
	const lines = [...column(50, 700, LEFT), ...column(320, 700, RIGHT), { x: 50, y: 30, text: "report.html" }];
	expect(await read([{ lines }])).toBe(`${LEFT.join(" ")}\n\n${RIGHT.join(" ")}\n\nreport.html`);
});

test("lines that stand below each other in columns are a table", async () => {
	const rows = [
		["Item", "Count", "Price"],
		["Apples", "12", "3.50"],
		["Bananas", "7", "1.20"],
	];
	const lines = rows.flatMap((row, index) => row.map((text, place) => ({ x: 60 + place * 150, y: 600 - index * 16, text })));
	const text = await read([
		{
			lines: [
				{ x: 60, y: 700, text: "What was sold in this shop in the month of March" },
				...lines,
				{ x: 60, y: 500, text: "That was all of it." },
			],
		},
	]);
	expect(text).toBe(
		"What was sold in this shop in the month of March\n\n| Item | Count | Price |\n| --- | --- | --- |\n| Apples | 12 | 3.50 |\n| Bananas | 7 | 1.20 |\n\nThat was all of it.",
	);
});

test("headings are told by their size, lists by their marks, paragraphs by their ends", async () => {
	const text = await read([
		{
			lines: [
				{ x: 50, y: 750, text: "Chapter", size: 24 },
				{ x: 50, y: 715, text: "Section", size: 16 },
				...column(50, 690, [
					"A paragraph whose first line is as long as the column is wide, or nearly so,",
					"and which ends here.",
					"Another paragraph follows it without any gap and has a long first line also,",
					"ending there.",
				]),
				...column(50, 600, ["\x95 first thing", "\x95 second thing"]),
			],
		},
	]);
	expect(text).toBe(
		"# Chapter\n\n## Section\n\nA paragraph whose first line is as long as the column is wide, or nearly so, and which ends here.\n\nAnother paragraph follows it without any gap and has a long first line also, ending there.\n\n- first thing\n- second thing",
	);
});

test("a word that is parted at the end of a line is joined", async () => {
	const text = await read([
		{
			lines: column(50, 700, [
				"This line is as long as its column and ends in an extra-",
				"ordinary word that goes on, and then the text is done.",
			]),
		},
	]);
	expect(text).toBe(
		"This line is as long as its column and ends in an extraordinary word that goes on, and then the text is done.",
	);
});

test("links, filled fields and notes are told", async () => {
	const text = await read(
		[
			{
				lines: [{ x: 50, y: 700, text: "See the site for more" }],
				annotations: [
					"<</Type/Annot/Subtype/Link/Rect[70 695 111 715]/A<</S/URI/URI(https://example.com/)>>>>",
					"<</Type/Annot/Subtype/Text/Rect[300 700 320 720]/Contents(Please check)>>",
					"<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/V(Ann Lee)/Rect[50 600 200 620]>>",
					"<</Type/Annot/Subtype/Widget/FT/Tx/T(Empty)/Rect[50 560 200 580]>>",
				],
			},
		],
		"/AcroForm<</Fields[]>>",
	);
	expect(text).toContain("See [the site](https://example.com/) for more");
	expect(text).toContain("> Note: Please check");
	expect(text).toContain("Name: Ann Lee");
	expect(text).not.toContain("Empty");
});

const picture = { width: 60, height: 80, gray: new Uint8Array(4_800).map((_, at) => (at % 7 === 0 ? 0 : 255)) };

test("pages that are pictures go to the reader of scans, the others do not", async () => {
	const seen: string[] = [];
	const text = await read(
		[{ lines: [{ x: 50, y: 700, text: "A page of text that needs no reader." }] }, { picture }, {}],
		"",
		async ({ width, height, gray }) => {
			seen.push(`${width}x${height}`);
			expect(gray.length).toBe(width * height);
			return "what the scan says";
		},
	);
	expect(text).toBe("A page of text that needs no reader.\n\nwhat the scan says");
	expect(seen).toEqual(["1667x2222"]);
});

test("a page of few letters without a picture is no scan, and what a scan has as text comes once", async () => {
	const line = (text: string) => [{ x: 50, y: 700, text }];
	const seen: number[] = [];
	const reader = async ({ width }: { readonly width: number }) => {
		seen.push(width);
		return "Page 7\nwhat the scan says";
	};
	expect(await read([{ lines: line("Hello world") }], "", reader)).toBe("Hello world");
	expect(seen).toEqual([]);
	expect(await read([{ lines: line("Page 7"), picture }], "", reader)).toBe("Page 7\nwhat the scan says");
	expect(await read([{ lines: line("Received"), picture }], "", reader)).toBe("Received\n\nPage 7\nwhat the scan says");
});

test("a file of scans is refused where nothing reads them, and says so", async () => {
	await expect(read([{ picture }])).rejects.toMatchObject({ kind: "empty", message: expect.stringContaining("pictures") });
});

test("a file with a password is refused as such", async () => {
	// The keys of a user password that is not empty (ISO 32000-1, 7.6.3).
	const file = Buffer.from(pdfFile([{ lines: [{ x: 50, y: 700, text: "secret" }] }])).toString("latin1");
	const keys = `/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4/O<${"ab".repeat(32)}>/U<${"cd".repeat(32)}>>>/ID[<${"01".repeat(16)}><${"01".repeat(16)}>]`;
	const locked = Buffer.from(file.replace("/Root 1 0 R", `/Root 1 0 R${keys}`), "latin1");
	await expect(extractText(locked, "file.pdf", { readScan: null })).rejects.toMatchObject({ kind: "encrypted" });
});

test("a file whose table of objects is lost, or wrong, is read all the same", async () => {
	const whole = Buffer.from(pdfFile([{ lines: column(50, 700, LEFT) }]));
	const text = whole.toString("latin1");
	const table = text.lastIndexOf("xref\n0 ");
	const cut = whole.subarray(0, table);
	const noTrailer = Buffer.from(text.replace(/trailer[\s\S]*$/, ""), "latin1");
	const wrongPlace = Buffer.from(text.replace(/startxref\n\d+/, "startxref\n7"), "latin1");
	for (const file of [cut, noTrailer, wrongPlace])
		expect(await extractText(file, "file.pdf", { readScan: null })).toBe(LEFT.join(" "));
	for (const file of [whole.subarray(0, 20), Buffer.from(`%PDF-1.7\n${"1 0 obj\n".repeat(50_000)}`)])
		await expect(extractText(file, "file.pdf", { readScan: null })).rejects.toMatchObject({ kind: "corrupt" });
});

test("a file whose objects stand in streams, and whose table is lost, is read all the same", async () => {
	const content = "BT /F1 12 Tf 72 700 Td (Words of a stream) Tj ET";
	const packed = [
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Resources<</Font<</F1 4 0 R>>>>>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	];
	let at = 0;
	const numbers = packed.map((body, index) => {
		const pair = `${index + 1} ${at}`;
		at += body.length + 1;
		return pair;
	});
	const header = `${numbers.join(" ")} `;
	for (const pack of [true, false]) {
		const objects = Buffer.from(header + packed.join(" "), "latin1");
		const bytes = pack ? deflateSync(objects) : objects;
		const stream = `<</Type/ObjStm/N 4/First ${header.length}/Length ${bytes.length}${pack ? "/Filter/FlateDecode" : ""}>>stream\r\n`;
		const file = Buffer.concat([
			Buffer.from(`%PDF-1.5\n5 0 obj\n<</Length ${content.length}>>stream\n${content}\nendstream\nendobj\n6 0 obj\n${stream}`),
			bytes,
			Buffer.from("\nendstream\nendobj\n"),
		]);
		expect(await extractText(file, "file.pdf", { readScan: null })).toBe("Words of a stream");
	}
	const bomb = deflateSync(Buffer.alloc(300_000_000));
	const hostile = Buffer.concat([
		Buffer.from("%PDF-1.5\n6 0 obj\n<</Type/ObjStm/N 4/First 9/Filter/FlateDecode>>stream\n"),
		bomb,
	]);
	await expect(extractText(hostile, "file.pdf", { readScan: null })).rejects.toMatchObject({ kind: "corrupt" });
});
