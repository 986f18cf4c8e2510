import type { MoneySource } from "../../journal/records.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import { Statement, type StatementEntry } from "./statement.ts";

export interface UsagePageQuery {
	readonly accountId: string;
	/** null: all. */
	readonly currency: MoneySource | null;
	/** Applied at or after this time, Unix milliseconds; null: from the first entry. */
	readonly fromMs: number | null;
	/** Applied before this time; null: up to the last entry. */
	readonly toMs: number | null;
	readonly order: "asc" | "desc";
	readonly offset: number;
	readonly limit: number;
}

export interface UsagePage {
	readonly entries: readonly StatementEntry[];
	/** Number of entries on all pages. */
	readonly total: number;
}

/** Returns a page of an account's statement by its position, with the total number of entries, from one snapshot. */
export function usagePage(admin: AdminStore, query: UsagePageQuery): Promise<UsagePage> {
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const statement = await Statement.open(tx, query.accountId, query.currency);
			const { after, last } = await statement.range(query.fromMs, query.toMs);
			const page = { after: Math.min(last, after + query.offset), last };
			if (query.order === "asc") return { entries: await statement.read(page, query.limit), total: last - after };
			const end = Math.max(after, last - query.offset);
			const entries = await statement.read({ after: Math.max(after, end - query.limit), last: end }, query.limit);
			return { entries: entries.reverse(), total: last - after };
		});
}
