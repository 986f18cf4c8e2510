/** What commands print: aligned tables for people, JSON for scripts. */

/** Writes rows as an aligned table; the first row is the head. */
export function printTable(rows: readonly (readonly string[])[]): void {
	const widths: number[] = [];
	for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
	for (const row of rows)
		process.stdout.write(
			`${row
				.map((cell, index) => cell.padEnd(widths[index] ?? 0))
				.join("  ")
				.trimEnd()}\n`,
		);
}

/** Writes one JSON document. */
export function printJson(value: unknown): void {
	process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** One line to the person. */
export function print(text: string): void {
	process.stdout.write(`${text}\n`);
}

/** One line about what went wrong, to standard error. */
export function complain(text: string): void {
	process.stderr.write(`${text}\n`);
}

export function isoTime(ms: number | null): string {
	return ms === null ? "-" : new Date(ms).toISOString();
}
