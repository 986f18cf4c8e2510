import { type ReactNode, useState } from "react";

export interface Column<Row> {
	readonly name: string;
	readonly cell: (row: Row) => ReactNode;
	/** `number` aligns to the right; `actions` holds buttons. */
	readonly kind?: "text" | "number" | "actions";
	/** Returns the sort value; a column without it cannot be sorted. */
	readonly sortBy?: (row: Row) => number | string;
}

export interface TableProps<Row> {
	/** Describes the table for screen readers. */
	readonly label: string;
	readonly columns: readonly Column<Row>[];
	readonly rows: readonly Row[];
	readonly rowKey: (row: Row) => string;
	readonly foot?: ReactNode;
}

/** A table whose first column names its rows. It scrolls sideways by itself if it is too wide. */
export function Table<Row>({ label, columns, rows, rowKey, foot }: TableProps<Row>) {
	const { sorted, heads } = useSorted(columns, rows);
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
		<section className="table-frame" aria-label={label} tabIndex={0}>
			<table className="table">
				<thead>
					<tr>{heads}</tr>
				</thead>
				<tbody>
					{sorted.map((row) => (
						<Row key={rowKey(row)} columns={columns} row={row} />
					))}
				</tbody>
				{foot === undefined ? null : <tfoot>{foot}</tfoot>}
			</table>
		</section>
	);
}

interface RowProps<T> {
	readonly columns: readonly Column<T>[];
	readonly row: T;
	/** For a row in a long list: the function that measures it, and its index. */
	readonly measure?: (element: HTMLTableRowElement | null) => void;
	readonly index?: number;
}

export function Row<T>({ columns, row, measure, index: place }: RowProps<T>) {
	return (
		<tr {...(measure === undefined ? {} : { ref: measure, "data-index": place, "aria-rowindex": (place ?? 0) + 2 })}>
			{columns.map((column, index) =>
				index === 0 ? (
					<th key={column.name} scope="row" className={column.kind ?? "text"}>
						{column.cell(row)}
					</th>
				) : (
					<td key={column.name} className={column.kind ?? "text"}>
						{column.cell(row)}
					</td>
				),
			)}
		</tr>
	);
}

/** Returns the header cells of a table, and its rows in the order that the reader chose. */
export function useSorted<T>(columns: readonly Column<T>[], rows: readonly T[]) {
	const [order, setOrder] = useState<{ readonly name: string; readonly down: boolean } | null>(null);
	const sortBy = columns.find(({ name }) => name === order?.name)?.sortBy;
	const sorted = sortBy === undefined ? rows : rows.toSorted((a, b) => compare(sortBy(a), sortBy(b)) * (order?.down ? -1 : 1));
	const heads = columns.map(({ name, kind = "text", sortBy: sortable }) => {
		const on = order?.name === name;
		return (
			<th key={name} scope="col" className={kind} {...(on ? { "aria-sort": order.down ? "descending" : "ascending" } : {})}>
				{sortable === undefined ? (
					<span className={kind === "actions" ? "unseen" : undefined}>{name}</span>
				) : (
					<button type="button" className="sort" onClick={() => setOrder({ name, down: on ? !order.down : kind === "number" })}>
						{name}
						{on ? (order.down ? " ↓" : " ↑") : ""}
					</button>
				)}
			</th>
		);
	});
	return { sorted, heads };
}

function compare(a: number | string, b: number | string): number {
	return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
