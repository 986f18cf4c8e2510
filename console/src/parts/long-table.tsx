import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import type { Page } from "../../../src/routes/console/types.ts";
import { count } from "../format/quantity.ts";
import { Empty, Loaded } from "./loaded.tsx";
import { type Column, Row } from "./table.tsx";

interface LongTableProps<T> {
	readonly label: string;
	readonly columns: readonly Column<T>[];
	readonly query: UseInfiniteQueryResult<InfiniteData<Page<T>>>;
	readonly rowKey: (row: T) => string;
	/** Shown if the list is empty. */
	readonly empty: ReactNode;
}

/** The estimated height of rows, which are measured as they come into view. */
const ROW_HEIGHT = 46;

/** A list of any length: it fetches pages as the reader nears their end, and renders only rows in view. */
export function LongTable<T>({ query, empty, ...table }: LongTableProps<T>) {
	return (
		<Loaded query={query}>
			{(data) => {
				const rows = data.pages.flatMap((page) => page.data);
				if (rows.length === 0) return typeof empty === "string" ? <Empty title={empty} /> : empty;
				return <Rows {...table} rows={rows} query={query} />;
			}}
		</Loaded>
	);
}

function Rows<T>({ label, columns, query, rowKey, rows }: Omit<LongTableProps<T>, "empty"> & { readonly rows: readonly T[] }) {
	const frame = useRef<HTMLElement>(null);
	const { hasNextPage, isFetchingNextPage, fetchNextPage, isFetchNextPageError } = query;
	const virtualizer = useVirtualizer({
		count: rows.length,
		getScrollElement: () => frame.current,
		estimateSize: () => ROW_HEIGHT,
		overscan: 12,
		getItemKey: (index) => {
			const row = rows[index];
			return row === undefined ? index : rowKey(row);
		},
	});
	const items = virtualizer.getVirtualItems();
	const last = items.at(-1)?.index ?? 0;
	useEffect(() => {
		if (last >= rows.length - 20 && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
	}, [last, rows.length, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
	const above = items[0]?.start ?? 0;
	const below = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
			<section ref={frame} className="table-frame table-frame-tall" aria-label={label} tabIndex={0}>
				<table className="table" aria-rowcount={hasNextPage ? -1 : rows.length + 1}>
					<thead>
						<tr>
							{columns.map(({ name, kind = "text" }) => (
								<th key={name} scope="col" className={kind}>
									<span className={kind === "actions" ? "unseen" : undefined}>{name}</span>
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						<Pad height={above} />
						{items.map(({ index, key }) => {
							const row = rows[index];
							return row === undefined ? null : (
								<Row key={String(key)} columns={columns} row={row} measure={virtualizer.measureElement} index={index} />
							);
						})}
						<Pad height={below} />
					</tbody>
				</table>
			</section>
			<div className="table-foot">
				<span role="status">
					{hasNextPage ? `${count(rows.length)} loaded, more as you scroll` : `${count(rows.length)} in total`}
				</span>
				{hasNextPage ? (
					<button
						type="button"
						className="button button-small"
						disabled={isFetchingNextPage}
						onClick={() => void fetchNextPage()}
					>
						{isFetchingNextPage ? "Loading…" : "Load more"}
					</button>
				) : null}
			</div>
		</>
	);
}

/** Takes the space of rows that are not rendered. */
function Pad({ height }: { readonly height: number }) {
	if (height <= 0) return null;
	return (
		// biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
		<tr className="pad" aria-hidden="true">
			<td style={{ height }} />
		</tr>
	);
}
