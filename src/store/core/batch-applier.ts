/**
 * Applies journal groups: one transaction per batch, which includes the sequence that it reaches, so that no batch is
 * applied twice.
 */
import type { Database, Statement } from "bun:sqlite";
import type { ReadGroup } from "../../journal/index.ts";
import { type Entry, Posting } from "../sqlite/batch-rows.ts";
import type { StoreClock } from "../sqlite/store-clock.ts";
import { inTransaction } from "../sqlite/transaction.ts";
import { isRecordFault } from "./record-fault.ts";

interface Counts {
	readonly posts: number;
	readonly rejects: number;
}

/** Thrown for a batch that does not continue the applied sequence: a fault of the caller, never of a record. */
export class SequenceError extends Error {
	override readonly name = "SequenceError";
}

export class BatchApplier {
	readonly #db: Database;
	readonly #node: { readonly id: string; readonly epoch: number };
	readonly #clock: StoreClock;
	readonly #booking: Posting;
	readonly #sql: ReturnType<typeof prepare>;

	constructor(db: Database, node: { id: string; epoch: number }, clock: StoreClock) {
		this.#db = db;
		this.#node = node;
		this.#clock = clock;
		this.#booking = new Posting(db, node);
		this.#sql = prepare(db);
	}

	/** Returns the last applied sequence, as committed. */
	appliedSeq(): number {
		return this.#sql.appliedSeq.get(this.#node.id, this.#node.epoch)?.applied_seq ?? 0;
	}

	/**
	 * Applies the groups that are not applied yet, in one transaction. A record that the books refuse is isolated in
	 * `rejected`. Throws `SQLiteError` where the store fails (nothing of the batch is applied then) and `SequenceError`
	 * at a gap.
	 */
	apply(groups: readonly ReadGroup[]): void {
		try {
			this.#apply(groups, (entries, bookedAt) => ({ posts: this.#booking.apply(entries, bookedAt), rejects: 0 }));
		} catch (error) {
			if (error instanceof SequenceError || !isRecordFault(error)) throw error;
			// Savepoints are used only after a failure: they copy every page that is changed behind them.
			this.#apply(groups, (entries, bookedAt) => this.#isolate(entries, bookedAt));
		}
	}

	#apply(groups: readonly ReadGroup[], applyEntries: (entries: readonly Entry[], bookedAt: number) => Counts): void {
		try {
			inTransaction(this.#db, () => this.#applyFresh(groups, applyEntries));
		} catch (error) {
			this.#booking.forget();
			throw error;
		}
	}

	#applyFresh(groups: readonly ReadGroup[], applyEntries: (entries: readonly Entry[], bookedAt: number) => Counts): void {
		const applied = this.appliedSeq();
		const unappliedGroups = groups.filter((group) => group.seq > applied);
		unappliedGroups.forEach((group, index) => {
			if (group.seq !== applied + 1 + index) throw new SequenceError(`group ${group.seq} after ${applied + index}`);
		});
		const last = unappliedGroups.at(-1);
		if (last === undefined) return;
		const entries = unappliedGroups.flatMap((group) => group.records.map((text): Entry => ({ seq: group.seq, text })));
		const counts = applyEntries(entries, this.#clock.postingMs());
		this.#sql.advance.run(last.seq, unappliedGroups.length, counts.posts, counts.rejects, this.#node.id, this.#node.epoch);
	}

	/** Applies all or none of the entries; where one is at fault, applies halves of them, down to the one. */
	#isolate(entries: readonly Entry[], bookedAt: number): Counts {
		this.#db.run("SAVEPOINT book_range");
		let fault: unknown;
		try {
			const posts = this.#booking.apply(entries, bookedAt);
			this.#db.run("RELEASE book_range");
			return { posts, rejects: 0 };
		} catch (error) {
			if (!isRecordFault(error)) throw error;
			fault = error;
			this.#booking.forget();
		}
		this.#db.run("ROLLBACK TO book_range");
		this.#db.run("RELEASE book_range");
		const [only] = entries;
		if (entries.length === 1 && only !== undefined) return this.#reject(only, fault, bookedAt);
		const middle = entries.length >> 1;
		const left = this.#isolate(entries.slice(0, middle), bookedAt);
		const right = this.#isolate(entries.slice(middle), bookedAt);
		return { posts: left.posts + right.posts, rejects: left.rejects + right.rejects };
	}

	#reject(entry: Entry, fault: unknown, bookedAt: number): Counts {
		const message = fault instanceof Error ? fault.message : String(fault);
		this.#sql.reject.run(this.#node.id, this.#node.epoch, entry.seq, entry.text, message, bookedAt);
		return { posts: 0, rejects: 1 };
	}
}

type Sql<Row = unknown> = Statement<Row, (string | number | null)[]>;

function prepare(db: Database) {
	return {
		appliedSeq: db.prepare("SELECT applied_seq FROM nodes WHERE node_id = ? AND epoch = ?").safeIntegers(false) as Sql<{
			applied_seq: number;
		}>,
		advance: db.prepare(
			"UPDATE nodes SET applied_seq = ?, groups = groups + ?, posts = posts + ?, rejects = rejects + ? WHERE node_id = ? AND epoch = ?",
		) as Sql,
		reject: db.prepare("INSERT INTO rejected (node_id, epoch, seq, record, error, rejected_at) VALUES (?, ?, ?, ?, ?, ?)") as Sql,
	};
}
