/**
 * Writes CSV by RFC 4180: commas between fields, CRLF between lines, quotes only if a field needs them. Text from
 * outside is made harmless for spreadsheets, which run a cell that begins like a formula.
 */

/** `null` is an empty cell. A number, or text marked as `plain`, is written as it is: our own, never the caller's. */
export type CsvCell = string | number | null | { readonly plain: string };

const NEEDS_QUOTES = /[",\r\n]/;
/** Matches the beginning of a formula in spreadsheets, also after spaces that they cut off. */
const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/;

/** Returns one line with its CRLF. */
export function csvLine(cells: readonly CsvCell[]): string {
	return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: CsvCell): string {
	if (cell === null) return "";
	if (typeof cell === "number") return String(cell);
	const text = typeof cell === "string" ? harmless(cell) : cell.plain;
	return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function harmless(text: string): string {
	return FORMULA.test(text) ? `'${text}` : text;
}
