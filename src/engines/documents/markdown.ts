/** The Markdown of all readers: blocks separated by a blank line, tables with one line a row. */

export function heading(level: number, text: string): string {
	return `${"#".repeat(Math.min(6, Math.max(1, level)))} ${oneLine(text)}`;
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Returns a text for a table cell: line ends become `<br>`. */
function cell(text: string): string {
	return text
		.trim()
		.replaceAll(/[^\S\n]+/g, " ")
		.replaceAll(/ ?\n\s*/g, "<br>")
		.replaceAll("|", "\\|");
}

/** A row that is shorter than the widest may end early (GFM, tables); rows of tables wider than this do. */
const FILLED_COLUMNS = 64;

/**
 * Returns a table whose first row is its header; "" for a table without text. Short rows are filled; empty rows and columns at
 * the end are left out.
 */
export function table(rows: readonly (readonly string[])[]): string {
	const lengths = rows.map((row) => row.findLastIndex((text) => text.trim() !== "") + 1);
	const columns = lengths.reduce((most, length) => Math.max(most, length), 0);
	const last = lengths.findLastIndex((length) => length > 0);
	if (columns === 0) return "";
	const lines: string[] = [];
	for (const [index, row] of rows.slice(0, last + 1).entries()) {
		const cells: string[] = [];
		const filled = index === 0 ? columns : Math.max(lengths[index] ?? 0, Math.min(columns, FILLED_COLUMNS));
		for (let column = 0; column < filled; column += 1) cells.push(cell(row[column] ?? ""));
		lines.push(`| ${cells.join(" | ")} |`);
		if (index === 0) lines.push(`|${" --- |".repeat(columns)}`);
	}
	return lines.join("\n");
}

export function link(text: string, address: string | undefined): string {
	const shown = text.trim();
	if (address === undefined || shown === "" || !/^(https?|mailto|ftp|tel):/i.test(address)) return text;
	if (shown === address || `mailto:${shown}` === address) return text;
	return text.replace(shown, () => `[${shown}](${address.replaceAll(/[\s()]/g, encodeURIComponent)})`);
}

export const quote = (text: string): string => text.trim().replaceAll(/^/gm, "> ");

/** Joins blocks with a blank line between them, without empty ones. Items of one list follow each other. */
export function blocks(parts: readonly string[]): string {
	let text = "";
	let wasItem = false;
	for (const part of parts) {
		const block = part.replace(/\s+$/, "").replace(/^\n+/, "");
		if (block.trim() === "") continue;
		const isItem = /^ *(?:[-*]|\d+[.)]) /.test(block);
		text += text === "" ? block : `${wasItem && isItem ? "\n" : "\n\n"}${block}`;
		wasItem = isItem;
	}
	return text;
}
