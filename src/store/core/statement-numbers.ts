/**
 * Numbers the entries of each account's statement as they are applied: over all units, and in each unit. A page of a
 * statement is then a range of numbers, found by its position at any length of the journal. The numbers have no gaps
 * and follow the order of application; only one writer may number an account's entries. When old posts are archived,
 * numbering continues behind theirs (`statement_starts`).
 */
import type { Database, Statement } from "bun:sqlite";
import type { MoneySource } from "../../journal/records.ts";
import type { AppliedPart } from "./post-lines.ts";

/** The numbers of a post, which are those of its last entry. */
export interface EntryNumbers {
	readonly entries: number | null;
	readonly usd: number | null;
	readonly bundled: number | null;
	readonly diem: number | null;
}

/** The last numbers of an account: over all units, and in each. */
export type EntryCounts = { entries: number } & Record<MoneySource, number>;

/** Accounts whose last numbers are cached; those of others are read from the index, a seek for each unit. */
const MAX_KEPT = 10_000;
const NO_ENTRIES: EntryNumbers = { entries: null, usd: null, bundled: null, diem: null };

/** Numbers the parts of a post after `counts`, which it advances. Parts that the operator bears are in no statement. */
export function numberEntries(counts: EntryCounts, parts: readonly AppliedPart[]): EntryNumbers {
	const touched = new Set<MoneySource>();
	for (const { source } of parts) {
		if (source === "overrun") continue;
		counts.entries++;
		counts[source]++;
		touched.add(source);
	}
	if (touched.size === 0) return NO_ENTRIES;
	const number = (source: MoneySource) => (touched.has(source) ? counts[source] : null);
	return { entries: counts.entries, usd: number("usd"), bundled: number("bundled"), diem: number("diem") };
}

export class StatementNumbers {
	readonly #last: Statement<Record<MoneySource, bigint>, string[]>;
	readonly #kept = new Map<string, EntryCounts>();

	constructor(db: Database) {
		const last = (unit: MoneySource) =>
			`max(coalesce((SELECT max(entries_${unit}) FROM posts WHERE account_id = ?1 AND entries_${unit} IS NOT NULL), 0),
				coalesce((SELECT ${unit} FROM statement_starts WHERE account_id = ?1), 0)) AS ${unit}`;
		this.#last = db.prepare(`SELECT ${last("usd")}, ${last("bundled")}, ${last("diem")}`);
	}

	/** Numbers the parts of the account's next post. */
	next(accountId: string, parts: readonly AppliedPart[]): EntryNumbers {
		return parts.some((part) => part.source !== "overrun") ? numberEntries(this.#counts(accountId), parts) : NO_ENTRIES;
	}

	/** Drops the cached numbers after a rollback, since their posts may not exist. */
	forget(): void {
		this.#kept.clear();
	}

	#counts(accountId: string): EntryCounts {
		const kept = this.#kept.get(accountId);
		if (kept !== undefined) return kept;
		const last = this.#last.get(accountId);
		const [usd, bundled, diem] = [Number(last?.usd), Number(last?.bundled), Number(last?.diem)];
		const counts = { entries: usd + bundled + diem, usd, bundled, diem };
		if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
		this.#kept.set(accountId, counts);
		return counts;
	}
}
