/**
 * Applies journal groups on PostgreSQL: one transaction per batch, which includes the sequence that it reaches, so
 * that no batch is applied twice even after a broken connection. A batch is a handful of statements, however many
 * records it has.
 */
import type { SQL } from "bun";
import type { ReadGroup } from "../../journal/index.ts";
import type { MoneySource } from "../../journal/records.ts";
import { SequenceError } from "../core/batch-applier.ts";
import {
	type BatchPlan,
	type BatchState,
	budgetKey,
	Entry,
	type LockedBudget,
	lostAllotments,
	needsOf,
	planBatch,
} from "../core/batch-plan.ts";
import { capKey } from "../core/cap-plan.ts";
import { freeRoom } from "../core/cap-split.ts";
import type { EntryCounts } from "../core/statement-numbers.ts";
import { writeAllotments } from "./allotments.ts";
import { lockCaps, roomOf } from "./cap-table.ts";
import { inTransaction } from "./connect.ts";
import { isRecordFault } from "./faults.ts";

interface Counts {
	readonly posts: number;
	readonly rejects: number;
}

export interface NodeEpoch {
	readonly id: string;
	readonly epoch: number;
}

export class BatchApplier {
	readonly #node: NodeEpoch;
	#lastBookingMs = 0;

	constructor(node: NodeEpoch) {
		this.#node = node;
	}

	/**
	 * Applies the groups that are not applied yet, in one transaction, and returns the applied sequence. A record that
	 * the books refuse is isolated in `rejected`. Throws errors of PostgreSQL where the store fails: then nothing of
	 * the batch is applied, or all of it, and the next call finds out. Throws `SequenceError` at a gap.
	 */
	async apply(sql: SQL, groups: readonly ReadGroup[]): Promise<number> {
		try {
			return await inTransaction(sql, (tx) => this.#apply(tx, groups, (...batch) => this.#applyEntries(...batch)));
		} catch (error) {
			if (!isRecordFault(error)) throw error;
		}
		return inTransaction(sql, (tx) => this.#apply(tx, groups, (...batch) => this.#isolate(...batch)));
	}

	async #apply(
		tx: SQL,
		groups: readonly ReadGroup[],
		applyEntries: (tx: SQL, entries: readonly Entry[], state: BatchState, bookedAt: number) => Promise<Counts>,
	): Promise<number> {
		const all = groups.flatMap((group) => group.records.map((text) => new Entry(group.seq, text)));
		let { applied, state, nowMs } = await this.#lock(tx, all);
		const unappliedGroups = groups.filter((group) => group.seq > applied);
		unappliedGroups.forEach((group, index) => {
			if (group.seq !== applied + 1 + index) throw new SequenceError(`group ${group.seq} after ${applied + index}`);
		});
		const last = unappliedGroups.at(-1);
		if (last === undefined) return applied;
		const entries = all.filter((entry) => entry.seq > applied);
		const missingAllotments = lostAllotments(entries, state.budgets);
		if (missingAllotments.length > 0) {
			await writeAllotments(tx, missingAllotments);
			({ state, nowMs } = await this.#lock(tx, entries));
		}
		this.#lastBookingMs = Math.max(this.#lastBookingMs, nowMs);
		const counts = await applyEntries(tx, entries, state, this.#lastBookingMs);
		await tx.unsafe(
			`UPDATE nodes SET applied_seq = $1, groups = groups + $2, posts = posts + $3, rejects = rejects + $4
				WHERE node_id = $5 AND epoch = $6`,
			[last.seq, unappliedGroups.length, counts.posts, counts.rejects, this.#node.id, this.#node.epoch],
		);
		return last.seq;
	}

	/**
	 * Locks the boot, then accounts, then budgets, then keys whose limits must be checked, each in the order of their
	 * keys: so no two nodes wait for each other, and one node at a time numbers the entries of an account's statement.
	 * All statements are sent at once and answered in order: a distant store costs one round trip.
	 */
	async #lock(tx: SQL, entries: readonly Entry[]): Promise<{ applied: number; state: BatchState; nowMs: number }> {
		const needs = needsOf(entries);
		const accounts = tx.array([...needs.accounts], "TEXT");
		const of = (pick: (budget: (typeof needs.budgets)[number]) => string | number, type: "TEXT" | "INT8") =>
			tx.array(needs.budgets.map(pick), type);
		const wanted = [
			of((budget) => budget.account, "TEXT"),
			of((budget) => budget.source, "TEXT"),
			of((budget) => budget.day, "INT8"),
		];
		const node = [this.#node.id, this.#node.epoch];
		const [boots, , budgets, rooms, leases, numbers, clock] = await Promise.all([
			tx.unsafe("SELECT applied_seq FROM nodes WHERE node_id = $1 AND epoch = $2 FOR NO KEY UPDATE", node),
			tx.unsafe("SELECT id FROM accounts WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE", [accounts]),
			tx.unsafe(
				`SELECT account_id, source, day, balance, leased FROM budgets
					WHERE (account_id, source, day) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::int8[]))
					ORDER BY account_id, source, day FOR NO KEY UPDATE`,
				wanted,
			),
			needs.caps.length === 0 ? new Map() : lockCaps(tx, this.#node, needs.caps, needs.touched),
			tx.unsafe(OWN_LEASES, [...wanted, ...node]),
			tx.unsafe(LAST_NUMBERS, [accounts]),
			tx.unsafe("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now"),
		]);
		if (boots.length === 0) throw new SequenceError("the store does not know this boot");
		const applied = Number(boots[0].applied_seq);
		const caps = new Map(needs.caps.map((place) => [capKey(place), freeRoom(roomOf(rooms, place))]));
		return { applied, state: { ...stateOf(budgets, leases, numbers), caps }, nowMs: Number(clock[0].now) };
	}

	/** Applies all of the entries; throws where one is at fault, and `state` is then not advanced. */
	async #applyEntries(tx: SQL, entries: readonly Entry[], state: BatchState, bookedAt: number): Promise<Counts> {
		const after = copyOf(state);
		const plan = planBatch(entries, after, bookedAt);
		await this.#write(tx, plan);
		for (const [key, budget] of after.budgets) state.budgets.set(key, budget);
		for (const [account, numbers] of after.numbers) state.numbers.set(account, numbers);
		for (const [key, free] of after.caps) state.caps.set(key, free);
		return { posts: plan.posts.length, rejects: 0 };
	}

	/** Applies all or none of the entries; where one is at fault, applies halves of them, down to the one. */
	async #isolate(tx: SQL, entries: readonly Entry[], state: BatchState, bookedAt: number): Promise<Counts> {
		await tx.unsafe("SAVEPOINT book_range");
		let fault: unknown;
		try {
			const counts = await this.#applyEntries(tx, entries, state, bookedAt);
			await tx.unsafe("RELEASE book_range");
			return counts;
		} catch (error) {
			if (!isRecordFault(error)) throw error;
			fault = error;
		}
		await tx.unsafe("ROLLBACK TO book_range; RELEASE book_range");
		const [only] = entries;
		if (entries.length === 1 && only !== undefined) return this.#reject(tx, only, fault, bookedAt);
		const middle = entries.length >> 1;
		const left = await this.#isolate(tx, entries.slice(0, middle), state, bookedAt);
		const right = await this.#isolate(tx, entries.slice(middle), state, bookedAt);
		return { posts: left.posts + right.posts, rejects: left.rejects + right.rejects };
	}

	async #reject(tx: SQL, entry: Entry, fault: unknown, bookedAt: number): Promise<Counts> {
		const message = fault instanceof Error ? fault.message : String(fault);
		await tx.unsafe(
			"INSERT INTO rejected (node_id, epoch, seq, record, error, rejected_at) VALUES ($1, $2, $3, $4, $5, $6)",
			// PostgreSQL stores no NUL in a text.
			[this.#node.id, this.#node.epoch, entry.seq, entry.text.replaceAll("\0", ""), message.replaceAll("\0", ""), bookedAt],
		);
		return { posts: 0, rejects: 1 };
	}

	async #write(tx: SQL, plan: BatchPlan): Promise<void> {
		const { id, epoch } = this.#node;
		const writes: Promise<unknown>[] = [];
		if (plan.posts.length > 0) writes.push(tx.unsafe(BOOK_POSTS, [plan.posts, plan.movements, id, epoch]));
		if (plan.spent.length > 0) writes.push(tx.unsafe(SPEND, [plan.spent, id, epoch]));
		if (plan.daily.length > 0) writes.push(tx.unsafe(COUNT_DAILY, [plan.daily]));
		if (plan.capped.length > 0) writes.push(tx.unsafe(SPEND_CAPS, [plan.capped, id, epoch]));
		if (plan.touches.size > 0) {
			const keys = tx.array([...plan.touches.keys()], "TEXT");
			writes.push(tx.unsafe(TOUCH, [keys, tx.array([...plan.touches.values()], "INT8")]));
		}
		writes.push(...plan.rpc.write(tx));
		await Promise.all(writes);
	}
}

type Found = Iterable<Record<string, string | bigint>>;

function stateOf(budgets: Found, leases: Found, numbers: Found): Omit<BatchState, "caps"> {
	const key = (row: Record<string, string | bigint>) => budgetKey(String(row.account_id), String(row.source), Number(row.day));
	const byKey = new Map<string, LockedBudget>();
	for (const row of budgets) byKey.set(key(row), { balance: Number(row.balance), leased: Number(row.leased), lease: 0 });
	for (const row of leases) {
		const budget = byKey.get(key(row));
		if (budget !== undefined) budget.lease = Number(row.amount);
	}
	const byAccount = new Map<string, EntryCounts>();
	for (const row of numbers) {
		const [usd, bundled, diem] = [Number(row.usd), Number(row.bundled), Number(row.diem)];
		byAccount.set(String(row.account_id), { entries: usd + bundled + diem, usd, bundled, diem });
	}
	return { budgets: byKey, numbers: byAccount };
}

function copyOf(state: BatchState): BatchState {
	return {
		budgets: new Map([...state.budgets].map(([key, budget]) => [key, { ...budget }])),
		numbers: new Map([...state.numbers].map(([account, numbers]) => [account, { ...numbers }])),
		caps: new Map(state.caps),
	};
}

const lastNumber = (unit: MoneySource) =>
	`greatest((SELECT max(entries_${unit}) FROM posts WHERE account_id = account.id AND entries_${unit} IS NOT NULL),
		(SELECT ${unit} FROM statement_starts WHERE account_id = account.id), 0) AS ${unit}`;

/** Looks up each budget (`LIMIT`): a plain join would read all leases of the node for a batch of a few accounts. */
const OWN_LEASES = `SELECT account_id, source, day, amount FROM unnest($1::text[], $2::text[], $3::int8[]) AS wanted (account_id, source, day)
	CROSS JOIN LATERAL (
		SELECT amount FROM leases WHERE node_id = $4 AND epoch = $5 AND leases.account_id = wanted.account_id
			AND leases.source = wanted.source AND leases.day = wanted.day LIMIT 1
	) AS lease`;

const LAST_NUMBERS = `SELECT account.id AS account_id, ${lastNumber("usd")}, ${lastNumber("bundled")}, ${lastNumber("diem")}
	FROM unnest($1::text[]) AS account (id)`;

const BOOK_POSTS = `
	WITH booked AS (
		INSERT INTO posts (request_id, node_id, epoch, seq, account_id, key_id, day, admitted_at, done_at, booked_at, route, model,
			upstream, status, hold, price, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
			tokens_counted, entries, entries_usd, entries_bundled, entries_diem)
		SELECT request_id, $3, $4::int8, seq, account_id, key_id, day, admitted_at, done_at, booked_at, route, model,
			upstream, status, hold, price, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
			tokens_counted, entries, entries_usd, entries_bundled, entries_diem
		FROM jsonb_populate_recordset(NULL::posts, $1::jsonb)
		RETURNING id, request_id
	)
	INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at, balance_after)
	SELECT kind, debit, credit, amount, unit, booked.id, sku, units, pico_price, day, occurred_at, booked_at, balance_after
	FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (request_id text, kind text, debit text, credit text, amount int8, unit text,
		sku text, units int8, pico_price int8, day int8, occurred_at int8, booked_at int8, balance_after int8)) WITH ORDINALITY AS part
	JOIN booked USING (request_id) ORDER BY part.ordinality`;

/** Reduces balance and lease by the same amount. */
const SPEND = `
	WITH spent AS (
		SELECT * FROM jsonb_to_recordset($1::jsonb) AS part (account_id text, source text, day int8, amount int8, leased int8)
	), lease AS (
		UPDATE leases SET amount = leases.amount - spent.leased FROM spent
		WHERE leases.node_id = $2 AND leases.epoch = $3 AND leases.account_id = spent.account_id AND leases.source = spent.source
			AND leases.day = spent.day AND spent.leased > 0
	)
	UPDATE budgets SET balance = balance - spent.amount, leased = budgets.leased - spent.leased FROM spent
	WHERE budgets.account_id = spent.account_id AND budgets.source = spent.source AND budgets.day = spent.day`;

const COUNT_DAILY = `
	INSERT INTO usage_daily AS daily (account_id, key_id, day, unit, sku, amount, units, rows)
	SELECT account_id, key_id, day, unit, sku, amount, units, rows FROM jsonb_populate_recordset(NULL::usage_daily, $1::jsonb)
	ORDER BY account_id, key_id, day, unit, sku
	ON CONFLICT (account_id, key_id, day, unit, sku) DO UPDATE
		SET amount = daily.amount + excluded.amount, units = daily.units + excluded.units, rows = daily.rows + excluded.rows`;

/** Where there is no lease (any more), only the usage is counted. */
const SPEND_CAPS = `
	UPDATE cap_leases SET amount = greatest(0, cap_leases.amount - part.amount)
	FROM jsonb_to_recordset($1::jsonb) AS part (account_id text, key_id text, unit text, day int8, amount int8)
	WHERE cap_leases.node_id = $2 AND cap_leases.epoch = $3 AND cap_leases.account_id = part.account_id
		AND cap_leases.key_id = part.key_id AND cap_leases.unit = part.unit AND cap_leases.day = part.day`;

const TOUCH = `
	WITH used AS (
		SELECT keys.id, touch.at FROM keys JOIN unnest($1::text[], $2::int8[]) AS touch (id, at) USING (id)
		ORDER BY keys.id FOR NO KEY UPDATE OF keys
	)
	UPDATE keys SET last_used_at = greatest(coalesce(last_used_at, 0), used.at) FROM used WHERE keys.id = used.id`;
