import { Parser } from "htmlparser2";
import { DocumentFault } from "../document-fault.ts";
import { MAX_XML_DEPTH } from "../limits.ts";
import type { NumberFormats } from "./number-formats.ts";
import { type CellBudget, SheetRows } from "./sheet-rows.ts";

/** A sheet's rows with the text and links of its cells. */
export interface SheetCells {
	readonly rows: string[][];
	/** Relation ids of the cells' links, with the text of the cell. */
	readonly links: readonly { readonly text: string; readonly id: string }[];
	/** Printed headers and footers, without codes. */
	readonly headers: readonly string[];
	readonly footers: readonly string[];
}

export interface CellValues {
	readonly strings: readonly string[];
	readonly formats: NumberFormats;
	readonly budget: CellBudget;
}

const PRINTED = /^(odd|even|first)(Header|Footer)$/;
const MAX_COLUMN = 16_384;
const MAX_ROW = 1_048_576;

/** Reads a worksheet part (ECMA-376 part 1, 18.3) as a stream, because a sheet may be far larger than its file. */
export function readSheet(xml: string, values: CellValues): SheetCells {
	const links: { text: string; id: string }[] = [];
	const cells = new SheetRows(values.budget);
	const headers: string[] = [];
	const footers: string[] = [];
	let rowNumber = 0;
	let column = -1;
	let type = "";
	let style = 0;
	let text = "";
	let gathering = false;
	let depth = 0;
	const endCell = () => {
		if (column < 0 || column >= MAX_COLUMN) return;
		const shown = cellText(type, text, style, values);
		cells.set(rowNumber, column, shown);
	};
	const parser = new Parser(
		{
			onopentag(fullName, attributes) {
				if (++depth > MAX_XML_DEPTH) throw new DocumentFault("too-large", `The file nests deeper than ${MAX_XML_DEPTH} elements`);
				const name = local(fullName);
				if (name === "row") {
					column = -1;
					rowNumber = Math.min(MAX_ROW, Number(attributes.r ?? rowNumber + 1) || rowNumber + 1);
				} else if (name === "c") {
					column = columnOf(attributes.r) ?? column + 1;
					type = attributes.t ?? "n";
					style = Number(attributes.s ?? 0);
					text = "";
				} else if (name === "hyperlink" && attributes.ref !== undefined) {
					const id = Object.entries(attributes).find(([key]) => local(key) === "id" && key !== "id")?.[1];
					const number = Number(/\d+/.exec(attributes.ref)?.[0]);
					const text = cells.get(number, columnOf(attributes.ref) ?? -1);
					if (id !== undefined && text !== undefined) links.push({ text, id });
				}
				gathering = name === "v" || name === "t" || PRINTED.test(name);
				if (PRINTED.test(name)) text = "";
			},
			ontext(piece) {
				if (gathering) text += piece;
			},
			onclosetag(fullName) {
				depth -= 1;
				gathering = false;
				const name = local(fullName);
				if (name === "c") endCell();
				else if (PRINTED.test(name)) (name.endsWith("Header") ? headers : footers).push(withoutCodes(text));
			},
		},
		{ xmlMode: true },
	);
	parser.end(xml);
	return { rows: cells.rows(), links, headers, footers };
}

const local = (name: string) => name.slice(name.indexOf(":") + 1);

function cellText(type: string, text: string, style: number, { strings, formats }: CellValues): string {
	if (type === "s") return strings[Number(text)] ?? "";
	if (type === "b") return text === "1" ? "TRUE" : "FALSE";
	if (type === "n") return text === "" ? "" : formats.show(text, style);
	return withoutEscapes(text);
}

/**
 * Decodes characters that XML cannot hold: `_x000D_` (ECMA-376 part 1, 22.9.2.19), and an escaped underscore before such a
 * text.
 */
export function withoutEscapes(text: string): string {
	return text.includes("_x")
		? text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
		: text;
}

/** `C7` is column 2. */
function columnOf(reference: string | undefined): number | null {
	const letters = /^([A-Z]{1,3})\d/.exec(reference ?? "")?.[1];
	if (letters === undefined) return null;
	let column = 0;
	for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
	return column - 1;
}

/** Removes codes: `&L`, `&C` and `&R` split a header; the others are page numbers, fonts and colours. */
export const withoutCodes = (text: string): string =>
	text
		.replaceAll(/&[LCR]/g, " ")
		.replaceAll(/&"[^"]*"|&K[0-9A-F]{6}|&\d+|&[A-Z]/gi, "")
		.replaceAll(/\s+/g, " ")
		.trim();
