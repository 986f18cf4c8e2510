import { table } from "../markdown.ts";
import { type Box, boxAround, type Segment, sameLine } from "./page-content.ts";

export interface PageTable extends Box {
	readonly markdown: string;
}

/** Segments of one visual line, from left to right. */
type Row = readonly Segment[];

interface Column {
	left: number;
	right: number;
}

const MIN_ROWS = 2;
/** Lines of one table are at most this many letter heights apart. */
const MAX_ROW_GAP = 3;
/** Lines of one cell are closer than so many letter heights. */
const CLOSE_GAP = 0.8;
/** Two columns of text side by side have cells of at least this length. */
const PROSE_CHARS = 28;
const MANY_COLUMNS = 4;

/** Finds tables by layout: lines whose pieces are aligned vertically. Returns the remaining segments, too. */
export function findTables(segments: readonly Segment[]): { tables: PageTable[]; rest: Segment[] } {
	const rows = visualRows(segments);
	const tables: PageTable[] = [];
	const tableSegments = new Set<Segment>();
	for (let start = 0; start < rows.length; start += 1) {
		const run = tableFrom(rows, start);
		if (run === null) continue;
		start += run.rows.length - 1;
		if (isProse(run.rows, run.columns.length)) continue;
		tables.push({ ...boxAround(run.rows.flat()), markdown: table(cellsOf(run.rows, run.columns)) });
		for (const segment of run.rows.flat()) tableSegments.add(segment);
	}
	return { tables, rest: segments.filter((segment) => !tableSegments.has(segment)) };
}

function visualRows(segments: readonly Segment[]): Row[] {
	const rows: Segment[][] = [];
	for (const segment of [...segments].sort((a, b) => b.top + b.bottom - (a.top + a.bottom))) {
		const last = rows.at(-1);
		if (last?.[0] !== undefined && sameLine(last[0], segment)) last.push(segment);
		else rows.push([segment]);
	}
	return rows.map((row) => row.sort((a, b) => a.left - b.left));
}

function tableFrom(rows: readonly Row[], start: number): { rows: Row[]; columns: Column[] } | null {
	const first = rows[start] ?? [];
	if (first.length < 2) return null;
	const run: Row[] = [first];
	let columns: Column[] = first.map(({ left, right }) => ({ left, right }));
	for (let index = start + 1; index < rows.length; index += 1) {
		const row = rows[index] ?? [];
		const above = run.at(-1) ?? [];
		if (gapBetween(above, row) > MAX_ROW_GAP * (above[0]?.size ?? 0)) break;
		const next = joinColumns(columns, row);
		if (next === null) break;
		if (placesOf(row, next).length < 2 && !continues(above, row)) break;
		columns = next;
		run.push(row);
	}
	// A single line at the end that starts at the table's left edge is the text after it.
	while (run.length > 0 && placesOf(run.at(-1) ?? [], columns).every((column) => column === 0)) run.pop();
	const full = run.filter((row) => placesOf(row, columns).length >= 2);
	if (full.length < MIN_ROWS) return null;
	return { rows: run, columns };
}

const gapBetween = (above: Row, below: Row): number =>
	Math.min(...above.map(({ bottom }) => bottom)) - Math.max(...below.map(({ top }) => top));

/** Returns the columns with a further row; null if a piece of it would span two of them. */
function joinColumns(columns: readonly Column[], row: Row): Column[] | null {
	const next = columns.map((column) => ({ ...column }));
	for (const { left, right } of row) {
		const touched = next.filter((column) => left < column.right && right > column.left);
		if (touched.length > 1) return null;
		const [column] = touched;
		if (column === undefined) next.push({ left, right });
		else {
			column.left = Math.min(column.left, left);
			column.right = Math.max(column.right, right);
		}
	}
	next.sort((a, b) => a.left - b.left);
	const overlap = next.some((column, index) => column.right > (next[index + 1]?.left ?? Number.POSITIVE_INFINITY));
	const added = next.length - columns.length;
	// A row beside the columns rather than below them is not part of the table.
	return overlap || (row.length === 1 && added > 0) || (added > 0 && added === row.length) ? null : next;
}

/** Returns true for long pieces side by side, which are columns of text. */
function isProse(rows: readonly Row[], columns: number): boolean {
	if (columns >= MANY_COLUMNS || rows.length < 4) return false;
	const segments = rows.flat();
	const chars = segments.reduce((sum, { text }) => sum + text.length, 0);
	return chars / segments.length > PROSE_CHARS;
}

/** Returns true for a line close below another: the wrapped text of a cell. */
const continues = (above: Row, row: Row): boolean => gapBetween(above, row) < CLOSE_GAP * (row[0]?.size ?? 0);

/** Returns the columns in which a row has pieces. */
function placesOf(row: Row, columns: readonly Column[]): number[] {
	const places = row.map(({ left, right }) => columns.findIndex((column) => left < column.right && right > column.left));
	return [...new Set(places)];
}

function cellsOf(rows: readonly Row[], columns: readonly Column[]): string[][] {
	const table: string[][] = [];
	for (const [index, row] of rows.entries()) {
		const cells = columns.map((column) =>
			row
				.filter(({ left, right }) => left < column.right + 0.1 && right > column.left - 0.1)
				.map(({ text }) => text)
				.join(" "),
		);
		const last = table.at(-1);
		const above = rows[index - 1];
		const broken = above !== undefined && placesOf(row, columns).length < 2 && continues(above, row);
		if (last === undefined || !broken) table.push(cells);
		else for (const [column, text] of cells.entries()) if (text !== "") last[column] = `${last[column] ?? ""} ${text}`.trim();
	}
	return table;
}
