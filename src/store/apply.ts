/** Books journal groups: one transaction a batch, with the sequence it reaches, so that no batch is booked twice. */
import type { Database, Statement } from "bun:sqlite";
import type { ReadGroup } from "../journal/index.ts";
import type { JournalRecord, MoneySource, PostRecord, TouchRecord } from "../journal/records.ts";
import { bookPost } from "./post-lines.ts";
import { isRecordFault, RecordFault } from "./record-fault.ts";
import { type EntryNumbers, StatementNumbers } from "./statement-numbers.ts";
import type { StoreClock } from "./store-clock.ts";
import { OVERRUN, REVENUE } from "./tables.ts";
import { inTransaction } from "./transaction.ts";

interface Counts {
	readonly posts: number;
	readonly rejects: number;
}

interface Entry {
	readonly seq: number;
	readonly text: string;
}

/** A batch that does not continue what is applied: a fault of the caller, never of a record. */
export class SequenceError extends Error {
	override readonly name = "SequenceError";
}

export class BatchApplier {
	readonly #db: Database;
	readonly #node: { readonly id: string; readonly epoch: number };
	readonly #clock: StoreClock;
	readonly #numbers: StatementNumbers;
	readonly #sql: ReturnType<typeof prepare>;

	constructor(db: Database, node: { id: string; epoch: number }, clock: StoreClock) {
		this.#db = db;
		this.#node = node;
		this.#clock = clock;
		this.#numbers = new StatementNumbers(db);
		this.#sql = prepare(db);
	}

	/** The last sequence that is booked, as committed. */
	appliedSeq(): number {
		const row = this.#sql.appliedSeq.get(this.#node.id, this.#node.epoch);
		return Number(row?.applied_seq ?? 0);
	}

	/**
	 * Books the groups that are not booked yet, in one transaction. A record that the books cannot take is
	 * isolated in `rejected`. Throws `SQLiteError` where the store fails (nothing of the batch is booked then) and
	 * `SequenceError` at a hole.
	 */
	apply(groups: readonly ReadGroup[]): void {
		try {
			inTransaction(this.#db, () => this.#applyFresh(groups));
		} catch (error) {
			this.#numbers.forget();
			throw error;
		}
	}

	#applyFresh(groups: readonly ReadGroup[]): void {
		const applied = this.appliedSeq();
		const fresh = groups.filter((group) => group.seq > applied);
		fresh.forEach((group, index) => {
			if (group.seq !== applied + 1 + index) throw new SequenceError(`group ${group.seq} after ${applied + index}`);
		});
		const last = fresh.at(-1);
		if (last === undefined) return;
		const entries = fresh.flatMap((group) => group.records.map((text): Entry => ({ seq: group.seq, text })));
		const counts = this.#bookRange(entries, this.#clock.bookingMs());
		this.#sql.advance.run(last.seq, fresh.length, counts.posts, counts.rejects, this.#node.id, this.#node.epoch);
	}

	/** All or none of the entries; where one is at fault, halves of them, down to the one. */
	#bookRange(entries: readonly Entry[], bookedAt: number): Counts {
		this.#db.run("SAVEPOINT book_range");
		let fault: unknown;
		try {
			let posts = 0;
			for (const entry of entries) posts += this.#book(entry, bookedAt);
			this.#db.run("RELEASE book_range");
			return { posts, rejects: 0 };
		} catch (error) {
			if (!isRecordFault(error)) throw error;
			fault = error;
			this.#numbers.forget();
		}
		this.#db.run("ROLLBACK TO book_range");
		this.#db.run("RELEASE book_range");
		const [only] = entries;
		if (entries.length === 1 && only !== undefined) return this.#reject(only, fault, bookedAt);
		const middle = entries.length >> 1;
		const left = this.#bookRange(entries.slice(0, middle), bookedAt);
		const right = this.#bookRange(entries.slice(middle), bookedAt);
		return { posts: left.posts + right.posts, rejects: left.rejects + right.rejects };
	}

	#reject(entry: Entry, fault: unknown, bookedAt: number): Counts {
		const message = fault instanceof Error ? fault.message : String(fault);
		this.#sql.reject.run(this.#node.id, this.#node.epoch, entry.seq, entry.text, message, bookedAt);
		return { posts: 0, rejects: 1 };
	}

	/** Returns the number of posts booked: 1 or 0. */
	#book(entry: Entry, bookedAt: number): number {
		const record = JSON.parse(entry.text) as JournalRecord;
		switch (record.t) {
			case "post":
				this.#bookPost(record, entry.seq, bookedAt);
				return 1;
			case "touch":
				this.#touch(record);
				return 0;
			default:
				throw new RecordFault("unknown kind of record");
		}
	}

	#bookPost(post: PostRecord, seq: number, bookedAt: number): void {
		const { parts, free, spent } = bookPost(post);
		const postId = this.#insertPost(post, seq, bookedAt, this.#numbers.next(post.accountId, parts));
		const balances = new Map<string, bigint>();
		for (const [source, amount] of spent) balances.set(source, this.#spend(post, source, amount) + BigInt(amount));
		for (const part of parts) {
			const overrun = part.source === "overrun";
			const after = overrun ? null : (balances.get(part.source) ?? 0n) - BigInt(part.amount);
			if (after !== null) balances.set(part.source, after);
			this.#sql.move.run(
				overrun ? "overrun" : "charge",
				overrun ? OVERRUN : post.accountId,
				REVENUE,
				part.amount,
				overrun ? "usd" : part.source,
				postId,
				part.sku,
				part.units,
				part.picoPrice,
				post.day,
				post.doneAtMs,
				bookedAt,
				after,
			);
			this.#count(post, part.source, part.sku, part.amount, part.units);
		}
		for (const line of free) this.#count(post, "free", line.sku, 0, line.units);
	}

	#insertPost(post: PostRecord, seq: number, bookedAt: number, numbers: EntryNumbers): bigint {
		const { usage } = post;
		const { lastInsertRowid } = this.#sql.post.run(
			post.id,
			this.#node.id,
			this.#node.epoch,
			seq,
			post.accountId,
			post.keyId,
			post.day,
			post.admittedAtMs,
			post.doneAtMs,
			bookedAt,
			post.route,
			post.model,
			post.upstream,
			post.status,
			post.holdNano,
			post.priceNano,
			usage?.promptTokens ?? null,
			usage?.completionTokens ?? null,
			usage?.cachedTokens ?? null,
			usage?.cacheWriteTokens ?? null,
			usage?.reasoningTokens ?? null,
			usage ? Number(usage.counted) : null,
			numbers.entries,
			numbers.usd,
			numbers.bundled,
			numbers.diem,
		);
		return BigInt(lastInsertRowid);
	}

	/** Takes money from balance and lease alike. Returns the balance after. */
	#spend(post: PostRecord, source: MoneySource, amount: number): bigint {
		const day = source === "diem" ? post.day : 0;
		const row = this.#sql.spend.get(amount, post.accountId, source, day);
		if (row === null) throw new RecordFault(`account ${post.accountId} has no ${source} budget of day ${day}`);
		const { changes } = this.#sql.spendLease.run(amount, this.#node.id, this.#node.epoch, post.accountId, source, day);
		if (changes !== 1) throw new RecordFault(`this node has no lease on ${source} of ${post.accountId}`);
		return row.balance;
	}

	#count(post: PostRecord, unit: string, sku: string, amount: number, units: number): void {
		this.#sql.count.run(post.accountId, post.keyId ?? "", post.day, unit, sku, amount, units);
	}

	#touch(touch: TouchRecord): void {
		this.#sql.touch.run(touch.atMs, touch.keyId);
	}
}

type Sql<Row = unknown> = Statement<Row, (string | number | bigint | null)[]>;

function prepare(db: Database) {
	return {
		appliedSeq: db.prepare("SELECT applied_seq FROM nodes WHERE node_id = ? AND epoch = ?") as Sql<{ applied_seq: bigint }>,
		advance: db.prepare(
			"UPDATE nodes SET applied_seq = ?, groups = groups + ?, posts = posts + ?, rejects = rejects + ? WHERE node_id = ? AND epoch = ?",
		) as Sql,
		post: db.prepare(
			`INSERT INTO posts (request_id, node_id, epoch, seq, account_id, key_id, day, admitted_at, done_at, booked_at, route, model,
				upstream, status, hold, price, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
				tokens_counted, entries, entries_usd, entries_bundled, entries_diem)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		) as Sql,
		spend: db.prepare(
			`UPDATE budgets SET balance = balance - ?1, leased = leased - ?1 WHERE account_id = ?2 AND source = ?3 AND day = ?4
				RETURNING balance`,
		) as Sql<{ balance: bigint }>,
		spendLease: db.prepare(
			`UPDATE leases SET amount = amount - ? WHERE node_id = ? AND epoch = ? AND account_id = ? AND source = ? AND day = ?`,
		) as Sql,
		move: db.prepare(
			`INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at,
				balance_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		) as Sql,
		count: db.prepare(
			`INSERT INTO usage_daily (account_id, key_id, day, unit, sku, amount, units, rows) VALUES (?, ?, ?, ?, ?, ?, ?, 1)
				ON CONFLICT DO UPDATE SET amount = amount + excluded.amount, units = units + excluded.units, rows = rows + 1`,
		) as Sql,
		touch: db.prepare("UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?") as Sql,
		reject: db.prepare("INSERT INTO rejected (node_id, epoch, seq, record, error, rejected_at) VALUES (?, ?, ?, ?, ?, ?)") as Sql,
	};
}
