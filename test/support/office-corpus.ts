import type { Conversion } from "./office-suite.ts";

const NAMESPACES = Object.entries({
	office: "office",
	style: "style",
	text: "text",
	table: "table",
	draw: "drawing",
	presentation: "presentation",
})
	.map(([prefix, name]) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
	.join(" ");
const flat = (type: string, content: string) =>
	`<?xml version="1.0" encoding="UTF-8"?><office:document ${NAMESPACES} xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${type}">${content}</office:document>`;
const p = (text: string) => `<text:p>${Bun.escapeHTML(text)}</text:p>`;

const WORDS =
	"river granite ledger harbour violet window engine paper winter signal market copper meadow lantern bridge северный über naïve 東京 λόγος".split(
		" ",
	);
/** A text of words that are drawn by its number: each is another one, and all runs have the same. */
export function sentence(number: number, length = 12): string {
	const words = Array.from({ length }, (_, index) => WORDS[(number * 7 + index * (1 + (number % 5))) % WORDS.length]);
	return `Sentence ${number} ${words.join(" ")} ends.`;
}
export const cell = (table: number, row: number, column: number) =>
	`t${table}r${row}c${column} ${WORDS[(row * 3 + column) % WORDS.length]}`;

const grid = (table: number, rows: number, columns: number) =>
	Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => cell(table, row, column)));
const odfTable = (name: string, rows: readonly (readonly string[])[]) =>
	`<table:table table:name="${name}"><table:table-column table:number-columns-repeated="${rows[0]?.length ?? 0}"/>${rows
		.map(
			(row) =>
				`<table:table-row>${row.map((text) => `<table:table-cell office:value-type="string">${p(text)}</table:table-cell>`).join("")}</table:table-row>`,
		)
		.join("")}</table:table>`;

export interface CorpusSource extends Conversion {
	/** What a reader must find, in the order of the page. */
	readonly texts: readonly string[];
	/** Rows whose cells must stand beside each other, in formats that know tables. */
	readonly rows: readonly (readonly string[])[];
}

const paragraphs = Array.from({ length: 40 }, (_, index) => sentence(index));
const items = [41, 42, 43].map((number) => sentence(number, 4));
const [early, late] = [grid(1, 4, 3), grid(2, 3, 4)];
const letter: CorpusSource = {
	name: "letter.fodt",
	xml: flat(
		"text",
		`<office:body><office:text><text:h text:outline-level="1">Opening heading</text:h>${paragraphs.slice(0, 20).map(p).join("")}${odfTable("Early", early)}<text:h text:outline-level="2">Second heading</text:h>${paragraphs.slice(20).map(p).join("")}<text:list>${items.map((text) => `<text:list-item>${p(text)}</text:list-item>`).join("")}</text:list>${odfTable("Late", late)}${p("The last words.")}</office:text></office:body>`,
	),
	to: ["odt", "docx", "doc", "rtf", "pdf", "html", "txt", "epub"],
	texts: [
		"Opening heading",
		...paragraphs.slice(0, 20),
		...early.flat(),
		"Second heading",
		...paragraphs.slice(20),
		...items,
		...late.flat(),
		"The last words.",
	],
	rows: [...early, ...late],
};

const sheets = [grid(3, 40, 5), grid(4, 10, 3)];
const book: CorpusSource = {
	name: "book.fods",
	xml: flat(
		"spreadsheet",
		`<office:body><office:spreadsheet>${sheets.map((rows, index) => odfTable(`Sheet ${index}`, rows)).join("")}</office:spreadsheet></office:body>`,
	),
	to: ["ods", "xlsx", "xls", "html"],
	texts: sheets.flatMap((rows, index) => [`Sheet ${index}`, ...rows.flat()]),
	rows: sheets.flat(),
};
/** Of a workbook only the first sheet. */
const list: CorpusSource = {
	...book,
	name: "list.fods",
	to: ["csv"],
	texts: sheets[0]?.flat() ?? [],
	rows: [],
};

const slides = [0, 1, 2, 3].map((number) => ({
	title: `Slide title ${number}`,
	texts: [sentence(50 + number, 8), sentence(60 + number, 8)],
	notes: sentence(70 + number, 6),
}));
const frame = (y: number, height: number, content: string, type = "") =>
	`<draw:frame ${type} svg:x="2cm" svg:y="${y}cm" svg:width="22cm" svg:height="${height}cm">${content}</draw:frame>`;
const onSlide = grid(5, 3, 3);
const deck: CorpusSource = {
	name: "deck.fodp",
	xml: flat(
		"presentation",
		`<office:styles/><office:automatic-styles><style:page-layout style:name="L"/></office:automatic-styles><office:master-styles><style:master-page style:name="M" style:page-layout-name="L"/></office:master-styles><office:body><office:presentation>${slides
			.map(
				({ title, texts, notes }, index) =>
					`<draw:page draw:name="p${index}" draw:master-page-name="M">${frame(1, 2, `<draw:text-box>${p(title)}</draw:text-box>`, 'presentation:class="title"')}${texts.map((text, line) => frame(4 + line * 3, 2, `<draw:text-box>${p(text)}</draw:text-box>`)).join("")}${index === 3 ? frame(10, 3, odfTable("Grid", onSlide)) : ""}<presentation:notes>${frame(12, 5, `<draw:text-box>${p(notes)}</draw:text-box>`, 'presentation:class="notes"')}</presentation:notes></draw:page>`,
			)
			.join("")}</office:presentation></office:body>`,
	),
	to: ["odp", "pptx", "ppt"],
	texts: slides.flatMap(({ title, texts, notes }, index) => [title, ...texts, ...(index === 3 ? onSlide.flat() : []), notes]),
	rows: onSlide,
};

/** Known content, of which LibreOffice makes 16 files of 15 formats. */
export const officeCorpus: readonly CorpusSource[] = [letter, book, list, deck];
