/** Prints aligned tables for people and JSON for scripts. */
import { once } from "node:events";
import { forTerminal, forTerminalJson } from "./terminal-text.ts";

type TableRow = readonly string[];

/** Writes rows as an aligned table; the first row is the header. */
export function printTable(rows: readonly TableRow[]): void {
	process.stdout.write(new Table().text(rows));
}

/** Writes a table of any length in parts, each aligned; the first row of the first part is the header. */
export async function printTableParts(parts: AsyncIterable<readonly TableRow[]>): Promise<void> {
	const table = new Table();
	for await (const rows of parts) await writeOut(table.text(rows));
}

/** A table whose columns are as wide as their widest cell so far. */
class Table {
	readonly #widths: number[] = [];

	text(parts: readonly TableRow[]): string {
		const widths = this.#widths;
		const rows = parts.map((row) => row.map((cell) => forTerminal(cell)));
		for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
		const line = (row: TableRow) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ");
		return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
	}
}

/** Writes one JSON document. */
export function printJson(value: unknown): void {
	process.stdout.write(`${forTerminalJson(JSON.stringify(value, null, 2))}\n`);
}

/** Writes a JSON list of any length in parts, in the format of `printJson`. */
export async function printJsonParts(parts: AsyncIterable<readonly unknown[]>): Promise<void> {
	let separator = "[";
	for await (const items of parts) {
		const texts = items.map((item) => forTerminalJson(JSON.stringify(item, null, 2)).replaceAll("\n", "\n  "));
		if (texts.length === 0) continue;
		await writeOut(`${separator}\n  ${texts.join(",\n  ")}`);
		separator = ",";
	}
	await writeOut(separator === "[" ? "[]\n" : "\n]\n");
}

/** Maps the pages of a list as they are read, because a store may have a million rows. */
export async function* mapPages<From, To>(
	pages: AsyncIterable<readonly From[]>,
	map: (page: readonly From[]) => readonly To[],
): AsyncGenerator<readonly To[]> {
	for await (const page of pages) yield map(page);
}

/** Puts the header before the first part of a table; it stands alone where there are no rows. */
export async function* withHead(head: TableRow, parts: AsyncIterable<readonly TableRow[]>): AsyncGenerator<readonly TableRow[]> {
	let heads = [head];
	for await (const rows of parts) {
		yield [...heads, ...rows];
		heads = [];
	}
	yield heads;
}

/** Writes to standard output and waits while the reader is slower; exits quietly if the reader has closed the pipe. */
export async function writeOut(text: string): Promise<void> {
	if (text === "") return;
	process.stdout.once("error", leave);
	if (!process.stdout.write(text)) await once(process.stdout, "drain");
	process.stdout.off("error", leave);
}

function leave(error: NodeJS.ErrnoException): never {
	if (error.code !== "EPIPE") throw error;
	process.exit(0);
}

/** Prints one line to standard output. */
export function print(text: string): void {
	process.stdout.write(`${forTerminal(text, "lines")}\n`);
}

/** Prints one line about an error to standard error. */
export function printError(text: string): void {
	process.stderr.write(`${forTerminal(text, "lines")}\n`);
}

export function isoTime(ms: number | null): string {
	return ms === null ? "-" : new Date(ms).toISOString();
}
