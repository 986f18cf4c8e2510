import type { MoneySource } from "../../journal/records.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import { Statement, type StatementEntry } from "./statement.ts";

export interface UsageHistoryQuery {
	readonly accountId: string;
	/** null: all. */
	readonly currency: MoneySource | null;
	/** Applied at or after this time, Unix milliseconds; null: from the first entry. Ignored where `after` is given. */
	readonly fromMs: number | null;
	/** Applied before this time; null: up to the last entry. */
	readonly toMs: number | null;
	/** The last number of the page before; null: the first page. */
	readonly after: number | null;
	readonly limit: number;
}

export interface UsageHistory {
	readonly entries: readonly StatementEntry[];
	/** Where the next page begins; null where this is currently the last one. */
	readonly next: number | null;
}

/**
 * Returns the entries of an account's statement after a position, ascending. Numbers have no gaps and new entries get
 * higher ones, so that consecutive pages skip and repeat nothing.
 */
export function usageHistory(admin: AdminStore, query: UsageHistoryQuery): Promise<UsageHistory> {
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const statement = await Statement.open(tx, query.accountId, query.currency);
			const range = await statement.range(query.after === null ? query.fromMs : null, query.toMs);
			// A cursor into meanwhile archived entries continues with the first entry that is still in the store.
			const after = Math.max(query.after ?? range.after, statement.archived);
			const entries = await statement.read({ after, last: range.last }, query.limit);
			const reached = after + entries.length;
			return { entries, next: reached < range.last ? reached : null };
		});
}
