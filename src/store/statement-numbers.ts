/**
 * Numbers the entries of each account's statement as they are booked: over all units, and in each unit. A page of
 * a statement is then a range of numbers, found by its place at any length of the journal. The numbers have no
 * holes; they follow the order of booking, for which whoever numbers must be the only one to book for the account.
 */
import type { Database, Statement } from "bun:sqlite";
import type { MoneySource } from "../journal/records.ts";
import type { BookedPart } from "./post-lines.ts";

/** The numbers of a post: its last entry's. */
export interface EntryNumbers {
	readonly entries: number | null;
	readonly usd: number | null;
	readonly bundled: number | null;
	readonly diem: number | null;
}

type Counts = { entries: number } & Record<MoneySource, number>;

/** Accounts whose last numbers are kept in memory; the others are read from the index, a seek for each unit. */
const MAX_KEPT = 10_000;
const NO_ENTRIES: EntryNumbers = { entries: null, usd: null, bundled: null, diem: null };

export class StatementNumbers {
	readonly #last: Statement<{ unit: MoneySource; entries: bigint; number: bigint }, string[]>;
	readonly #kept = new Map<string, Counts>();

	constructor(db: Database) {
		const unit = (name: MoneySource) =>
			`SELECT * FROM (SELECT '${name}' AS unit, entries, entries_${name} AS number FROM posts
				WHERE account_id = ?1 AND entries_${name} IS NOT NULL ORDER BY entries_${name} DESC LIMIT 1)`;
		this.#last = db.prepare([unit("usd"), unit("bundled"), unit("diem")].join(" UNION ALL "));
	}

	/** Numbers the parts of the account's next post. What is borne by the operator stands in no statement. */
	next(accountId: string, parts: readonly BookedPart[]): EntryNumbers {
		if (!parts.some((part) => part.source !== "overrun")) return NO_ENTRIES;
		const counts = this.#counts(accountId);
		const touched = new Set<MoneySource>();
		for (const { source } of parts) {
			if (source === "overrun") continue;
			counts.entries++;
			counts[source]++;
			touched.add(source);
		}
		const number = (source: MoneySource) => (touched.has(source) ? counts[source] : null);
		return { entries: counts.entries, usd: number("usd"), bundled: number("bundled"), diem: number("diem") };
	}

	/** After a rollback: what was numbered since may not be booked. */
	forget(): void {
		this.#kept.clear();
	}

	#counts(accountId: string): Counts {
		const kept = this.#kept.get(accountId);
		if (kept !== undefined) return kept;
		const counts: Counts = { entries: 0, usd: 0, bundled: 0, diem: 0 };
		for (const row of this.#last.all(accountId)) {
			counts[row.unit] = Number(row.number);
			counts.entries = Math.max(counts.entries, Number(row.entries));
		}
		if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
		this.#kept.set(accountId, counts);
		return counts;
	}
}
