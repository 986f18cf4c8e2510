import { DocumentFault } from "../document-fault.ts";
import { MAX_CELLS, MAX_TEXT_CHARS } from "../limits.ts";

/** Counts the cells of a whole workbook, and their text: many cells may show the same one. */
export interface CellBudget {
	cells: number;
	chars: number;
}

/** The cells of a sheet as they come. */
export class SheetRows {
	readonly #rows = new Map<number, string[]>();
	readonly #budget: CellBudget;

	constructor(budget: CellBudget) {
		this.#budget = budget;
	}

	/** Throws DocumentFault where the workbook has too many. */
	set(rowNumber: number, column: number, shown: string): void {
		if (shown === "") return;
		const row = this.#rows.get(rowNumber) ?? [];
		this.#budget.cells += Math.max(1, column + 1 - row.length);
		if (this.#budget.cells > MAX_CELLS) throw new DocumentFault("too-large", `The file has more than ${MAX_CELLS} cells`);
		this.#budget.chars += shown.length;
		if (this.#budget.chars > MAX_TEXT_CHARS)
			throw new DocumentFault("too-large", `The file has more than ${MAX_TEXT_CHARS} characters of text`);
		while (row.length < column) row.push("");
		row[column] = shown;
		this.#rows.set(rowNumber, row);
	}

	get(rowNumber: number, column: number): string | undefined {
		return this.#rows.get(rowNumber)?.[column];
	}

	/** In their order; one empty row stands for many: a sheet's far corner must not fill memory. */
	rows(): string[][] {
		const list: string[][] = [];
		let last: number | undefined;
		for (const [number, row] of [...this.#rows].sort(([a], [b]) => a - b)) {
			if (last !== undefined && number > last + 1) list.push([]);
			list.push(row);
			last = number;
		}
		return list;
	}
}
