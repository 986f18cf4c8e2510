import type { MoneySource } from "../../journal/records.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import { Statement, type StatementEntry } from "./statement.ts";

export interface UsageHistoryQuery {
	readonly accountId: string;
	/** null: all. */
	readonly currency: MoneySource | null;
	/** Booked from here on, Unix milliseconds; null: from the first entry. Not looked at where `after` is given. */
	readonly fromMs: number | null;
	/** Booked before; null: up to the last entry. */
	readonly toMs: number | null;
	/** The number that the page before ended with; null: the first page. */
	readonly after: number | null;
	readonly limit: number;
}

export interface UsageHistory {
	readonly entries: readonly StatementEntry[];
	/** Where the next page begins; null where this is the last one now. */
	readonly next: number | null;
}

/**
 * The entries of an account's statement that follow a place, ascending. Numbers have no holes and new entries get
 * higher ones, so pages that follow each other skip and repeat nothing.
 */
export function usageHistory(admin: AdminStore, query: UsageHistoryQuery): Promise<UsageHistory> {
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const statement = await Statement.open(tx, query.accountId, query.currency);
			const range = await statement.range(query.after === null ? query.fromMs : null, query.toMs);
			// A cursor into what was archived meanwhile goes on with the first entry that is still here.
			const after = Math.max(query.after ?? range.after, statement.archived);
			const entries = await statement.read({ after, last: range.last }, query.limit);
			const reached = after + entries.length;
			return { entries, next: reached < range.last ? reached : null };
		});
}
