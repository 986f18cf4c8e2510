/**
 * Writes the rows of a range of journal records: posts and movements one by one in their order, sums (a balance, a
 * lease, a day's usage) once for the whole range. Writes the whole range or throws; the caller then rolls back.
 */
import type { Database, Statement } from "bun:sqlite";
import type { JournalRecord, MoneySource, PostRecord } from "../../journal/records.ts";
import { RangeSums } from "../core/batch-sums.ts";
import { payOwed } from "../core/owed.ts";
import { type AppliedPart, applyPost, type LinePart } from "../core/post-lines.ts";
import { RecordFault } from "../core/record-fault.ts";
import { type EntryNumbers, StatementNumbers } from "../core/statement-numbers.ts";
import { OVERRUN, REVENUE } from "../tables.ts";
import { RpcPosting } from "./rpc-rows.ts";

export interface Entry {
	readonly seq: number;
	/** The record's text in the journal. */
	readonly text: string;
}

export class Posting {
	readonly #node: { readonly id: string; readonly epoch: number };
	readonly #numbers: StatementNumbers;
	readonly #rpc: RpcPosting;
	readonly #sql: ReturnType<typeof prepare>;

	constructor(db: Database, node: { readonly id: string; readonly epoch: number }) {
		this.#node = node;
		this.#numbers = new StatementNumbers(db);
		this.#rpc = new RpcPosting(db);
		this.#sql = prepare(db);
	}

	/**
	 * Applies the entries inside the caller's transaction. Returns the number of posts among them. Throws the fault of
	 * a record (see `isRecordFault`), or `SQLiteError`; rows may be written then.
	 */
	apply(entries: readonly Entry[], bookedAt: number): number {
		const range = new RangeSums();
		let postId = this.#sql.lastPostId.get()?.id ?? 0;
		const before = postId;
		for (const { seq, text } of entries) {
			const record = JSON.parse(text) as JournalRecord;
			switch (record.t) {
				case "post":
					this.#applyPost(range, record, ++postId, seq, bookedAt);
					break;
				case "touch":
					range.touch(record.keyId, record.atMs);
					break;
				default:
					if (!this.#rpc.record(record)) throw new RecordFault("unknown kind of record");
			}
		}
		this.#writeSums(range);
		return postId - before;
	}

	/** Drops cached rows after a rollback, since they may not exist. */
	forget(): void {
		this.#numbers.forget();
	}

	#applyPost(range: RangeSums, post: PostRecord, postId: number, seq: number, bookedAt: number): void {
		const { parts: lines, free } = applyPost(post);
		const parts = this.#payOwedParts(range, post, lines);
		this.#insertPost(post, postId, seq, bookedAt, this.#numbers.next(post.accountId, parts));
		const { accountId, day } = post;
		const keyId = post.keyId ?? "";
		const sums = range.of(accountId);
		for (const { source, sku, amount, units, picoPrice } of parts) {
			const overrun = source === "overrun";
			this.#sql.move.run(
				overrun ? "overrun" : "charge",
				overrun ? OVERRUN : accountId,
				REVENUE,
				amount,
				overrun ? "usd" : source,
				postId,
				sku,
				units,
				picoPrice,
				day,
				post.doneAtMs,
				bookedAt,
				overrun ? null : sums.spend(source, budgetDay(source, day), amount, () => this.#balance(accountId, source, day)),
			);
			sums.count(keyId, day, source, sku, amount, units);
		}
		for (const { sku, units } of free) sums.count(keyId, day, "free", sku, 0, units);
		this.#rpc.post(post);
	}

	/**
	 * Pays owed parts like an acquire that may grant a part: free money becomes this node's lease, and is spent from
	 * it.
	 */
	#payOwedParts(range: RangeSums, post: PostRecord, lines: readonly LinePart[]): readonly AppliedPart[] {
		const { accountId, day, owing } = post;
		const { parts, fromFree } = payOwed(lines, owing, () =>
			SOURCES.map((source) => {
				const of = budgetDay(source, day);
				const row = this.#sql.money.get(this.#node.id, this.#node.epoch, accountId, source, of);
				if (row === null) return { source, surplus: 0, free: 0 };
				const spent = range.of(accountId).spent(source, of) + ofSource(lines, source);
				return { source, surplus: Math.max(0, row.lease - spent - (owing?.kept[source] ?? 0)), free: row.balance - row.leased };
			}),
		);
		for (const { source, amount } of fromFree) {
			this.#sql.lease.run(this.#node.id, this.#node.epoch, accountId, source, budgetDay(source, day), amount);
			this.#sql.changeLeased.run(amount, accountId, source, budgetDay(source, day));
		}
		return parts;
	}

	#insertPost(post: PostRecord, postId: number, seq: number, bookedAt: number, numbers: EntryNumbers): void {
		const { usage } = post;
		this.#sql.post.run(
			postId,
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
	}

	#balance(accountId: string, source: MoneySource, day: number): number {
		const row = this.#sql.balance.get(accountId, source, budgetDay(source, day));
		if (row === null) throw new RecordFault(`account ${accountId} has no ${source} budget of day ${day}`);
		return row.balance;
	}

	#writeSums(range: RangeSums): void {
		for (const [accountId, { spendings, usage }] of range.accounts()) {
			for (const { source, day, spent } of spendings) {
				this.#sql.spend.run(spent, accountId, source, day);
				const { changes } = this.#sql.spendLease.run(spent, this.#node.id, this.#node.epoch, accountId, source, day);
				if (changes !== 1) throw new RecordFault(`this node has no lease on ${source} of ${accountId}`);
			}
			for (const { keyId, day, unit, sku, amount, units, rows } of usage) {
				this.#sql.count.run(accountId, keyId, day, unit, sku, amount, units, rows);
			}
		}
		for (const [keyId, atMs] of range.touches()) this.#sql.touch.run(atMs, keyId);
	}
}

const SOURCES = ["diem", "bundled", "usd"] as const satisfies readonly MoneySource[];

function ofSource(parts: readonly LinePart[], source: MoneySource): number {
	return parts.reduce((sum, part) => sum + (part.source === source ? part.amount : 0), 0);
}

/** Returns the day of a budget: diem has one for each day, the others have a single one. */
function budgetDay(source: MoneySource, day: number): number {
	return source === "diem" ? day : 0;
}

type Sql<Row = unknown> = Statement<Row, (string | number | null)[]>;

/** Prepares the statements. Balances stay below 2^53 (a CHECK of the schema), so plain numbers hold them. */
function prepare(db: Database) {
	const sql = <Row = unknown>(text: string) => db.prepare(text).safeIntegers(false) as Sql<Row>;
	return {
		// Ids continue behind those of archived posts.
		lastPostId: sql<{ id: number }>(
			"SELECT max(coalesce((SELECT max(id) FROM posts), 0), coalesce((SELECT max(last_post_id) FROM archives), 0)) AS id",
		),
		post: sql(
			`INSERT INTO posts (id, request_id, node_id, epoch, seq, account_id, key_id, day, admitted_at, done_at, booked_at, route, model,
				upstream, status, hold, price, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
				tokens_counted, entries, entries_usd, entries_bundled, entries_diem)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		),
		move: sql(
			`INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at,
				balance_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		),
		balance: sql<{ balance: number }>("SELECT balance FROM budgets WHERE account_id = ? AND source = ? AND day = ?"),
		/** `free` does not depend on what the range has spent: balance and lease shrink alike. */
		money: sql<{ balance: number; leased: number; lease: number }>(
			`SELECT balance, leased, coalesce((SELECT amount FROM leases WHERE node_id = ? AND epoch = ? AND leases.account_id = budgets.account_id
				AND leases.source = budgets.source AND leases.day = budgets.day), 0) AS lease
				FROM budgets WHERE account_id = ? AND source = ? AND day = ?`,
		),
		lease: sql(
			`INSERT INTO leases (node_id, epoch, account_id, source, day, amount) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
				ON CONFLICT DO UPDATE SET amount = amount + ?6`,
		),
		changeLeased: sql("UPDATE budgets SET leased = leased + ? WHERE account_id = ? AND source = ? AND day = ?"),
		spend: sql(
			"UPDATE budgets SET balance = balance - ?1, leased = leased - ?1 WHERE account_id = ?2 AND source = ?3 AND day = ?4",
		),
		spendLease: sql(
			"UPDATE leases SET amount = amount - ? WHERE node_id = ? AND epoch = ? AND account_id = ? AND source = ? AND day = ?",
		),
		count: sql(
			`INSERT INTO usage_daily (account_id, key_id, day, unit, sku, amount, units, rows) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET amount = amount + excluded.amount, units = units + excluded.units, rows = rows + excluded.rows`,
		),
		touch: sql("UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?"),
	};
}
