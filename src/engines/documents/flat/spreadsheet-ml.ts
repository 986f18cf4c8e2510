import { DocumentFault } from "../document-fault.ts";
import { MAX_SHEETS } from "../limits.ts";
import { blocks, heading, link, oneLine, quote, table } from "../markdown.ts";
import { attribute, child, descendants, elements, type MarkupElement, textOf } from "../markup/markup-tree.ts";
import { NumberFormats } from "../office/number-formats.ts";
import { type CellBudget, SheetRows } from "../office/sheet-rows.ts";

/** Excel's named formats (XML Spreadsheet Reference, ss:Format). */
const NAMED: Readonly<Record<string, string>> = {
	"General Number": "General",
	"General Date": "m/d/yyyy h:mm",
	"Long Date": "dddd, mmmm dd, yyyy",
	"Medium Date": "d-mmm-yy",
	"Short Date": "m/d/yyyy",
	"Long Time": "h:mm:ss AM/PM",
	"Medium Time": "h:mm AM/PM",
	"Short Time": "h:mm",
	Currency: '"$"#,##0.00',
	"Euro Currency": "[$€-2]#,##0.00",
	Fixed: "0.00",
	Standard: "#,##0.00",
	Percent: "0.00%",
	Scientific: "0.00E+00",
};
const DATE = "m/d/yyyy";
const MS_A_DAY = 86_400_000;
/** Day 0 of a workbook. */
const EPOCH_MS = Date.UTC(1899, 11, 30);
const MAX_COLUMN = 16_384;

interface Workbook {
	readonly styles: ReadonlyMap<string, number>;
	readonly formats: NumberFormats;
	readonly budget: CellBudget;
}

/**
 * Converts a workbook of Excel 2002 and 2003 in XML (XML Spreadsheet Reference), as XLSX is.
 * @throws {DocumentFault}
 */
export function spreadsheetMlToMarkdown(root: MarkupElement): string {
	const sheets = elements(root).filter(({ name }) => name === "Worksheet");
	if (sheets.length > MAX_SHEETS) throw new DocumentFault("too-large", `The file has more than ${MAX_SHEETS} sheets`);
	const styles = [...elements(child(root, "Styles") ?? root)].filter(({ name }) => name === "Style");
	const patterns = styles.map((style) => attribute(child(style, "NumberFormat") ?? style, "Format") ?? "General");
	const workbook: Workbook = {
		styles: new Map(styles.map((style, index) => [attribute(style, "ID") ?? "", index])),
		formats: new NumberFormats(
			patterns.map((_, index) => index),
			new Map(patterns.map((pattern, index) => [index, NAMED[pattern] ?? pattern])),
			false,
		),
		budget: { cells: 0, chars: 0 },
	};
	return blocks(sheets.flatMap((sheet) => sheetBlocks(sheet, workbook)));
}

function sheetBlocks(sheet: MarkupElement, workbook: Workbook): string[] {
	const rows = new SheetRows(workbook.budget);
	const behind: string[] = [];
	let rowNumber = 0;
	for (const row of elements(child(sheet, "Table") ?? sheet)) {
		if (row.name !== "Row") continue;
		rowNumber = placeOf(row, rowNumber + 1);
		let column = 0;
		for (const cell of elements(row)) {
			if (cell.name !== "Cell") continue;
			column = placeOf(cell, column + 1);
			const shown = column > MAX_COLUMN ? "" : cellText(cell, workbook);
			rows.set(rowNumber, column - 1, shown);
			behind.push(...linkOf(cell, shown), ...commentOf(cell, shown));
			column += Math.max(0, Number(attribute(cell, "MergeAcross") ?? 0) || 0);
		}
	}
	const hidden = /hidden/i.test(textOf(descendants(sheet, "Visible")[0])) ? " (hidden)" : "";
	return [heading(2, `${attribute(sheet, "Name") ?? ""}${hidden}`), table(rows.rows()), ...behind];
}

/** Returns the index of a row or cell, which is written only if it does not follow the previous one. */
function placeOf(element: MarkupElement, next: number): number {
	const index = Number(attribute(element, "Index") ?? next);
	return Number.isSafeInteger(index) && index > 0 ? index : next;
}

function cellText(cell: MarkupElement, { styles, formats }: Workbook): string {
	const data = child(cell, "Data");
	if (data === undefined) return "";
	const text = textOf(data);
	const style = styles.get(attribute(cell, "StyleID") ?? "") ?? -1;
	switch (attribute(data, "Type")) {
		case "Number":
			return formats.show(text, style);
		case "Boolean":
			return text === "1" ? "TRUE" : "FALSE";
		case "DateTime":
			return dateText(text, style, formats);
		default:
			return text;
	}
}

function dateText(text: string, style: number, formats: NumberFormats): string {
	const ms = Date.parse(/Z$/.test(text) ? text : `${text}Z`);
	if (Number.isNaN(ms)) return text;
	const days = String((ms - EPOCH_MS) / MS_A_DAY);
	const shown = formats.show(days, style);
	return shown === days ? formats.showAs(days, DATE) : shown;
}

function linkOf(cell: MarkupElement, shown: string): string[] {
	const written = link(oneLine(shown), attribute(cell, "HRef"));
	return written.startsWith("[") ? [written] : [];
}

function commentOf(cell: MarkupElement, shown: string): string[] {
	const comment = child(cell, "Comment");
	if (comment === undefined) return [];
	const author = attribute(comment, "Author");
	return [quote(`Comment on "${oneLine(shown)}"${author ? ` by ${author}` : ""}: ${oneLine(textOf(child(comment, "Data")))}`)];
}
