import { DocumentFault } from "../document-fault.ts";
import { MAX_CELLS, MAX_TEXT_CHARS } from "../limits.ts";

/** Counts the cells of a whole workbook and their text, because many cells may share one text. */
export interface CellBudget {
	cells: number;
	chars: number;
}

/** Collects the cells of a sheet. */
export class SheetRows {
	/** Row -> column -> shown text. */
	readonly #rows = new Map<number, Map<number, string>>();
	readonly #columns = new Set<number>();
	readonly #budget: CellBudget;

	constructor(budget: CellBudget) {
		this.#budget = budget;
	}

	/**
	 * Sets a cell.
	 * @throws {DocumentFault} if the workbook has too many
	 */
	set(rowNumber: number, column: number, shown: string): void {
		if (shown === "") return;
		const row = this.#rows.get(rowNumber) ?? new Map<number, string>();
		this.#budget.cells += 1;
		if (this.#budget.cells > MAX_CELLS) throw tooMany();
		this.#budget.chars += shown.length;
		if (this.#budget.chars > MAX_TEXT_CHARS)
			throw new DocumentFault("too-large", `The file has more than ${MAX_TEXT_CHARS} characters of text`);
		row.set(column, shown);
		this.#columns.add(column);
		this.#rows.set(rowNumber, row);
	}

	get(rowNumber: number, column: number): string | undefined {
		return this.#rows.get(rowNumber)?.get(column);
	}

	/**
	 * Returns the rows in order. A run of empty rows or columns becomes one, so that a distant cell does not fill memory.
	 * @throws {DocumentFault} if the rows would have too many cells
	 */
	rows(): string[][] {
		const columns = placesOf([...this.#columns]);
		const list: string[][] = [];
		let last: number | undefined;
		let cells = 0;
		for (const [number, shown] of [...this.#rows].sort(([a], [b]) => a - b)) {
			if (last !== undefined && number > last + 1) list.push([]);
			const row: string[] = [];
			for (const [column, text] of [...shown].sort(([a], [b]) => a - b)) {
				const place = columns.get(column) ?? 0;
				while (row.length < place) row.push("");
				row.push(text);
			}
			cells += row.length;
			if (cells > MAX_CELLS) throw tooMany();
			list.push(row);
			last = number;
		}
		return list;
	}
}

/** Returns the position of each column after runs of empty ones are collapsed. */
function placesOf(columns: readonly number[]): ReadonlyMap<number, number> {
	const places = new Map<number, number>();
	let place = -1;
	let last = -1;
	for (const column of columns.toSorted((a, b) => a - b)) {
		place += Math.min(2, column - last);
		places.set(column, place);
		last = column;
	}
	return places;
}

const tooMany = () => new DocumentFault("too-large", `The file has more than ${MAX_CELLS} cells`);
