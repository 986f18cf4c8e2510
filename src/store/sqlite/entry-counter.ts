import type { Database, Statement } from "bun:sqlite";
import type { MoneySource } from "../../journal/records.ts";
import type { EntryCounts } from "../core/statement-numbers.ts";

/** Accounts whose last numbers are cached; those of others are read from the index, a seek for each unit. */
const MAX_CACHED = 50_000;

/** The last numbers of accounts' statements. */
export class EntryCounter {
	readonly #last: Statement<Record<MoneySource, bigint>, string[]>;
	readonly #cache = new Map<string, EntryCounts>();

	constructor(db: Database) {
		const last = (unit: MoneySource) =>
			`max(coalesce((SELECT max(entries_${unit}) FROM posts WHERE account_id = ?1 AND entries_${unit} IS NOT NULL), 0),
				coalesce((SELECT ${unit} FROM statement_starts WHERE account_id = ?1), 0)) AS ${unit}`;
		this.#last = db.prepare(`SELECT ${last("usd")}, ${last("bundled")}, ${last("diem")}`);
	}

	/** Returns the last numbers of an account, for the caller to change. */
	counts(accountId: string): EntryCounts {
		const cached = this.#cache.get(accountId);
		if (cached !== undefined) return { ...cached };
		const last = this.#last.get(accountId);
		const [usd, bundled, diem] = [Number(last?.usd), Number(last?.bundled), Number(last?.diem)];
		return { entries: usd + bundled + diem, usd, bundled, diem };
	}

	/** Caches the numbers that were written. */
	advance(accountId: string, counts: EntryCounts): void {
		if (counts.entries === 0) return;
		this.#cache.delete(accountId);
		this.#cache.set(accountId, counts);
		// The first key of a map is the one that was set longest ago.
		for (const oldest of this.#cache.keys()) {
			if (this.#cache.size <= MAX_CACHED) break;
			this.#cache.delete(oldest);
		}
	}

	/** Drops the cache after a rollback, since its posts may not exist. */
	forget(): void {
		this.#cache.clear();
	}
}
