/** Reads and writes the rows of a batch on SQLite; what is written is decided in `../core/batch-plan.ts`. */
import type { Database, Statement } from "bun:sqlite";
import type { PostRecord } from "../../journal/records.ts";
import type { BatchCounts, BatchStore, BatchTransaction, LockedBatch, NodeEpoch } from "../core/batch-applier.ts";
import type { BatchPlan, PaidPart, PlannedPost } from "../core/batch-plan.ts";
import { type BatchAccount, BatchState } from "../core/batch-state.ts";
import { capKey } from "../core/cap-plan.ts";
import { freeHeadroom } from "../core/cap-split.ts";
import type { AllotmentDay, BatchNeeds, Entry } from "../core/entries.ts";
import type { EndedClaim } from "../core/rpc-plan.ts";
import { OVERRUN, REVENUE } from "../tables.ts";
import { CapTable } from "./cap-table.ts";
import { writeAllotment } from "./diem.ts";
import { EntryCounter } from "./entry-counter.ts";
import { isRecordFault } from "./faults.ts";
import { RpcRows } from "./rpc-rows.ts";
import type { RunningClaims } from "./running-claims.ts";
import type { StoreClock } from "./store-clock.ts";
import { inTransactionAsync } from "./transaction.ts";

/** Rows of one node's batches. Nothing that it awaits leaves the turn of the event loop. */
export class BatchRows implements BatchStore<Database>, BatchTransaction {
	readonly #db: Database;
	readonly #node: NodeEpoch;
	readonly #clock: StoreClock;
	readonly #numbers: EntryCounter;
	readonly #rpc: RpcRows;
	readonly #caps: CapTable;
	readonly #running: RunningClaims | null;
	readonly #sql: ReturnType<typeof prepare>;
	#lastPostId = 0;
	/** Claims whose answers the running transaction writes. */
	#endedClaims: EndedClaim[] = [];

	/**
	 * @param numbers the one counter of this process: the nodes of a store continue each other's numbers
	 * @param running claims that end once their answers are committed; null for a single node
	 */
	constructor(
		db: Database,
		node: NodeEpoch,
		clock: StoreClock,
		numbers = new EntryCounter(db),
		running: RunningClaims | null = null,
	) {
		this.#db = db;
		this.#caps = new CapTable(db, node);
		this.#running = running;
		this.#node = node;
		this.#clock = clock;
		this.#numbers = numbers;
		this.#rpc = new RpcRows(db);
		this.#sql = prepare(db);
	}

	isRecordFault(error: unknown): boolean {
		return isRecordFault(error);
	}

	async transaction<T>(db: Database, work: (tx: BatchTransaction) => Promise<T>): Promise<T> {
		this.#endedClaims = [];
		try {
			const result = await inTransactionAsync(db, () => work(this));
			for (const claim of this.#endedClaims) this.#running?.release(claim);
			return result;
		} catch (error) {
			this.#numbers.forget();
			throw error;
		}
	}

	async savepoint<T>(work: () => Promise<T>): Promise<T> {
		this.#db.run("SAVEPOINT entries");
		try {
			const result = await work();
			this.#db.run("RELEASE entries");
			return result;
		} catch (error) {
			this.#numbers.forget();
			// A full disk may have rolled back the whole transaction.
			if (this.#db.inTransaction) this.#db.run("ROLLBACK TO entries; RELEASE entries");
			throw error;
		}
	}

	async lock(needs: BatchNeeds): Promise<LockedBatch> {
		const { id, epoch } = this.#node;
		const state = new BatchState(new Map(needs.caps.map((place) => [capKey(place), freeHeadroom(this.#caps.headroom(place))])));
		for (const { accountId, source, day } of needs.budgets) {
			const row = this.#sql.budget.get(id, epoch, accountId, source, day);
			if (row !== null) state.account(accountId).addBudget(source, day, row.balance, row.leased, row.lease);
		}
		for (const accountId of needs.accountIds) state.account(accountId).numbers = this.#numbers.counts(accountId);
		const appliedSeq = this.#sql.appliedSeq.get(id, epoch)?.applied_seq ?? null;
		return { appliedSeq, state, nowMs: this.#clock.postingMs() };
	}

	async writeAllotments(days: readonly AllotmentDay[]): Promise<void> {
		for (const { accountId, day } of days) writeAllotment(this.#db, accountId, day, this.#clock);
	}

	async write(plan: BatchPlan, postedAtMs: number): Promise<void> {
		this.#lastPostId = this.#sql.lastPostId.get()?.id ?? 0;
		for (const post of plan.posts) this.#insertPost(post, postedAtMs);
		for (const account of plan.accounts) this.#writeAccount(account);
		for (const [keyId, atMs] of plan.touches) this.#sql.touch.run(atMs, keyId);
		for (const sum of plan.capped) this.#caps.spend(sum);
		this.#rpc.write(plan.rpc);
		if (this.#running !== null) this.#endedClaims.push(...plan.rpc.endedClaims);
	}

	async reject(entry: Entry, error: string, rejectedAtMs: number): Promise<void> {
		this.#sql.reject.run(this.#node.id, this.#node.epoch, entry.seq, entry.text, error, rejectedAtMs);
	}

	async advance(appliedSeq: number, { groups, posts, rejects }: BatchCounts): Promise<void> {
		this.#sql.advance.run(appliedSeq, groups, posts, rejects, this.#node.id, this.#node.epoch);
	}

	#insertPost({ seq, record, numbers, parts }: PlannedPost, postedAtMs: number): void {
		const postId = ++this.#lastPostId;
		const { usage } = record;
		this.#sql.post.run(
			postId,
			record.id,
			this.#node.id,
			this.#node.epoch,
			seq,
			record.accountId,
			record.keyId,
			record.day,
			record.admittedAtMs,
			record.doneAtMs,
			postedAtMs,
			record.route,
			record.model,
			record.upstream,
			record.status,
			record.holdNano,
			record.priceNano,
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
		for (const part of parts) this.#insertMovement(postId, record, part, postedAtMs);
	}

	#insertMovement(postId: number, { accountId, day, doneAtMs }: PostRecord, part: PaidPart, postedAtMs: number): void {
		const { source, amount, sku, units, picoPrice, balanceAfter } = part;
		const overrun = source === "overrun";
		this.#sql.movement.run(
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
			doneAtMs,
			postedAtMs,
			balanceAfter,
		);
	}

	#writeAccount(account: BatchAccount): void {
		const { id, epoch } = this.#node;
		for (const { source, day, spent, unleased } of account.budgets) {
			if (spent !== 0 || unleased !== 0) this.#sql.spend.run(spent, unleased, account.id, source, day);
			if (unleased > 0) this.#sql.spendLease.run(unleased, id, epoch, account.id, source, day);
		}
		for (const { keyId, day, unit, sku, amount, units, rows } of account.usage)
			this.#sql.count.run(account.id, keyId, day, unit, sku, amount, units, rows);
		this.#numbers.advance(account.id, account.numbers);
	}
}

type Sql<Row = unknown> = Statement<Row, (string | number | null)[]>;

/** Prepares the statements. Balances stay below 2^53 (a CHECK of the schema), so plain numbers hold them. */
function prepare(db: Database) {
	const sql = <Row = unknown>(text: string) => db.prepare(text).safeIntegers(false) as Sql<Row>;
	return {
		appliedSeq: sql<{ applied_seq: number }>("SELECT applied_seq FROM nodes WHERE node_id = ? AND epoch = ?"),
		advance: sql(
			"UPDATE nodes SET applied_seq = ?, groups = groups + ?, posts = posts + ?, rejects = rejects + ? WHERE node_id = ? AND epoch = ?",
		),
		reject: sql("INSERT INTO rejected (node_id, epoch, seq, record, error, rejected_at) VALUES (?, ?, ?, ?, ?, ?)"),
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
		movement: sql(
			`INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at,
				balance_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		),
		budget: sql<{ balance: number; leased: number; lease: number }>(
			`SELECT balance, leased, coalesce((SELECT amount FROM leases WHERE node_id = ? AND epoch = ? AND leases.account_id = budgets.account_id
				AND leases.source = budgets.source AND leases.day = budgets.day), 0) AS lease
				FROM budgets WHERE account_id = ? AND source = ? AND day = ?`,
		),
		spend: sql("UPDATE budgets SET balance = balance - ?, leased = leased - ? WHERE account_id = ? AND source = ? AND day = ?"),
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
