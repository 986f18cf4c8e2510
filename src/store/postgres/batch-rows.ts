/**
 * Reads and writes the rows of a batch on PostgreSQL; what is written is decided in `../core/batch-plan.ts`. A batch is
 * a handful of statements, however many records it has.
 */
import type { SQL } from "bun";
import type { MoneySource, PostRecord } from "../../journal/records.ts";
import type { BatchCounts, BatchStore, BatchTransaction, LockedBatch, NodeEpoch } from "../core/batch-applier.ts";
import type { BatchPlan, PaidPart, PlannedPost } from "../core/batch-plan.ts";
import { BatchState } from "../core/batch-state.ts";
import { capKey } from "../core/cap-plan.ts";
import { freeHeadroom } from "../core/cap-split.ts";
import type { AllotmentDay, BatchNeeds, BudgetPlace, Entry } from "../core/entries.ts";
import { OVERRUN, REVENUE } from "../tables.ts";
import { writeAllotments } from "./allotments.ts";
import { headroomOf, lockCaps } from "./cap-table.ts";
import { inTransaction } from "./connect.ts";
import { isRecordFault } from "./faults.ts";
import { writeRpcRows } from "./rpc-rows.ts";

type Row = Readonly<Record<string, string | number | null>>;

/** Returns the store of one node's batches. */
export function batchRows(node: NodeEpoch): BatchStore<SQL> {
	return {
		transaction: (sql, work) => inTransaction(sql, (tx) => work(new BatchRows(tx, node))),
		isRecordFault,
	};
}

class BatchRows implements BatchTransaction {
	readonly #tx: SQL;
	readonly #node: NodeEpoch;

	constructor(tx: SQL, node: NodeEpoch) {
		this.#tx = tx;
		this.#node = node;
	}

	/**
	 * Locks the boot, then accounts, then budgets, then keys whose limits must be checked, each in the order of their
	 * keys: so no two nodes wait for each other, and one node at a time numbers the entries of an account's statement.
	 * All statements are sent at once and answered in order: a distant store costs one round trip.
	 */
	async lock(needs: BatchNeeds): Promise<LockedBatch> {
		const tx = this.#tx;
		const accounts = tx.array([...needs.accountIds], "TEXT");
		const of = (pick: (budget: BudgetPlace) => string | number, type: "TEXT" | "INT8") => tx.array(needs.budgets.map(pick), type);
		const places = [
			of((budget) => budget.accountId, "TEXT"),
			of((budget) => budget.source, "TEXT"),
			of((budget) => budget.day, "INT8"),
		];
		const node = [this.#node.id, this.#node.epoch];
		const [boots, , budgets, headrooms, leases, numbers, clock] = await Promise.all([
			tx.unsafe("SELECT applied_seq FROM nodes WHERE node_id = $1 AND epoch = $2 FOR NO KEY UPDATE", node),
			tx.unsafe("SELECT id FROM accounts WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE", [accounts]),
			tx.unsafe(
				`SELECT account_id, source, day, balance, leased FROM budgets
					WHERE (account_id, source, day) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::int8[]))
					ORDER BY account_id, source, day FOR NO KEY UPDATE`,
				places,
			),
			needs.caps.length === 0 ? new Map() : lockCaps(tx, this.#node, needs.caps, needs.touchedKeys),
			tx.unsafe(OWN_LEASES, [...places, ...node]),
			tx.unsafe(LAST_NUMBERS, [accounts]),
			tx.unsafe("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now"),
		]);
		const caps = new Map(needs.caps.map((place) => [capKey(place), freeHeadroom(headroomOf(headrooms, place))]));
		const state = new BatchState(caps);
		for (const { account_id, source, day, balance, leased } of budgets)
			state.account(account_id).addBudget(source, Number(day), Number(balance), Number(leased), 0);
		for (const { account_id, source, day, amount } of leases) {
			const budget = state.account(account_id).budget(source, Number(day));
			if (budget !== undefined) budget.lease = Number(amount);
		}
		for (const row of numbers) {
			const [usd, bundled, diem] = [Number(row.usd), Number(row.bundled), Number(row.diem)];
			state.account(row.account_id).numbers = { entries: usd + bundled + diem, usd, bundled, diem };
		}
		const appliedSeq = boots.length === 0 ? null : Number(boots[0].applied_seq);
		return { appliedSeq, state, nowMs: Number(clock[0].now) };
	}

	writeAllotments(days: readonly AllotmentDay[]): Promise<void> {
		return writeAllotments(this.#tx, days);
	}

	async write(plan: BatchPlan, postedAtMs: number): Promise<void> {
		const tx = this.#tx;
		const { id, epoch } = this.#node;
		const rows = rowsOf(plan, postedAtMs);
		const writes: Promise<unknown>[] = [];
		if (rows.posts.length > 0) writes.push(tx.unsafe(INSERT_POSTS, [rows.posts, rows.movements, id, epoch]));
		if (rows.spent.length > 0) writes.push(tx.unsafe(SPEND, [rows.spent, id, epoch]));
		if (rows.daily.length > 0) writes.push(tx.unsafe(COUNT_DAILY, [rows.daily]));
		if (rows.capped.length > 0) writes.push(tx.unsafe(SPEND_CAPS, [rows.capped, id, epoch]));
		if (plan.touches.size > 0) {
			const keys = tx.array([...plan.touches.keys()], "TEXT");
			writes.push(tx.unsafe(TOUCH, [keys, tx.array([...plan.touches.values()], "INT8")]));
		}
		writes.push(...writeRpcRows(tx, plan.rpc));
		await Promise.all(writes);
	}

	async reject(entry: Entry, error: string, rejectedAtMs: number): Promise<void> {
		await this.#tx.unsafe(
			"INSERT INTO rejected (node_id, epoch, seq, record, error, rejected_at) VALUES ($1, $2, $3, $4, $5, $6)",
			// PostgreSQL stores no NUL in a text.
			[this.#node.id, this.#node.epoch, entry.seq, entry.text.replaceAll("\0", ""), error.replaceAll("\0", ""), rejectedAtMs],
		);
	}

	async advance(appliedSeq: number, { groups, posts, rejects }: BatchCounts): Promise<void> {
		await this.#tx.unsafe(
			`UPDATE nodes SET applied_seq = $1, groups = groups + $2, posts = posts + $3, rejects = rejects + $4
				WHERE node_id = $5 AND epoch = $6`,
			[appliedSeq, groups, posts, rejects, this.#node.id, this.#node.epoch],
		);
	}

	async savepoint<T>(work: () => Promise<T>): Promise<T> {
		await this.#tx.unsafe("SAVEPOINT entries");
		try {
			const result = await work();
			await this.#tx.unsafe("RELEASE entries");
			return result;
		} catch (error) {
			// Trouble of the store ends the transaction anyway, and its error is the cause.
			if (isRecordFault(error)) await this.#tx.unsafe("ROLLBACK TO entries; RELEASE entries");
			throw error;
		}
	}
}

function rowsOf({ posts, accounts, capped }: BatchPlan, postedAtMs: number) {
	const spent: Row[] = [];
	const daily: Row[] = [];
	for (const { id, budgets, usage } of accounts) {
		for (const { source, day, spent: amount, unleased: leased } of budgets)
			if (amount !== 0 || leased !== 0) spent.push({ account_id: id, source, day, amount, leased });
		for (const { keyId, ...sum } of usage) daily.push({ account_id: id, key_id: keyId, ...sum });
	}
	return {
		posts: posts.map((post) => postRow(post, postedAtMs)),
		movements: posts.flatMap(({ record, parts }) => parts.map((part) => movementRow(record, part, postedAtMs))),
		spent,
		daily,
		capped: capped.map(({ accountId, keyId, ...sum }) => ({ account_id: accountId, key_id: keyId, ...sum })),
	};
}

function postRow({ seq, record, numbers }: PlannedPost, postedAtMs: number): Row {
	const { usage } = record;
	return {
		request_id: record.id,
		seq,
		account_id: record.accountId,
		key_id: record.keyId,
		day: record.day,
		admitted_at: record.admittedAtMs,
		done_at: record.doneAtMs,
		booked_at: postedAtMs,
		route: record.route,
		model: record.model,
		upstream: record.upstream,
		status: record.status,
		hold: record.holdNano,
		price: record.priceNano,
		prompt_tokens: usage?.promptTokens ?? null,
		completion_tokens: usage?.completionTokens ?? null,
		cached_tokens: usage?.cachedTokens ?? null,
		cache_write_tokens: usage?.cacheWriteTokens ?? null,
		reasoning_tokens: usage?.reasoningTokens ?? null,
		tokens_counted: usage ? Number(usage.counted) : null,
		entries: numbers.entries,
		entries_usd: numbers.usd,
		entries_bundled: numbers.bundled,
		entries_diem: numbers.diem,
	};
}

function movementRow({ id, accountId, day, doneAtMs }: PostRecord, part: PaidPart, postedAtMs: number): Row {
	const overrun = part.source === "overrun";
	return {
		request_id: id,
		kind: overrun ? "overrun" : "charge",
		debit: overrun ? OVERRUN : accountId,
		credit: REVENUE,
		amount: part.amount,
		unit: overrun ? "usd" : part.source,
		sku: part.sku,
		units: part.units,
		pico_price: part.picoPrice,
		day,
		occurred_at: doneAtMs,
		booked_at: postedAtMs,
		balance_after: part.balanceAfter,
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

const INSERT_POSTS = `
	WITH inserted AS (
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
	SELECT kind, debit, credit, amount, unit, inserted.id, sku, units, pico_price, day, occurred_at, booked_at, balance_after
	FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (request_id text, kind text, debit text, credit text, amount int8, unit text,
		sku text, units int8, pico_price int8, day int8, occurred_at int8, booked_at int8, balance_after int8)) WITH ORDINALITY AS part
	JOIN inserted USING (request_id) ORDER BY part.ordinality`;

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
	SELECT account_id, key_id, day, unit, sku, sum(amount)::int8, sum(units)::int8, sum(rows)::int8
	FROM jsonb_populate_recordset(NULL::usage_daily, $1::jsonb) GROUP BY account_id, key_id, day, unit, sku
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
