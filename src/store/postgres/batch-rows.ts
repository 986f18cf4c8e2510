/**
 * Reads and writes the rows of a batch on PostgreSQL; what is written is decided in `../core/batch-plan.ts`. A batch is
 * a handful of statements, however many records it has.
 */
import type { SQL } from "bun";
import type { MoneySource } from "../../journal/records.ts";
import type { BatchCounts, BatchStore, BatchTransaction, LockedBatch, NodeEpoch } from "../core/batch-applier.ts";
import type { BatchPlan, PaidPart, PlannedPost } from "../core/batch-plan.ts";
import { type BatchAccount, type BatchBudget, BatchState, type UsageSum } from "../core/batch-state.ts";
import { capKey } from "../core/cap-plan.ts";
import { freeHeadroom } from "../core/cap-split.ts";
import type { AllotmentDay, BatchNeeds, Entry } from "../core/entries.ts";
import { OVERRUN, REVENUE } from "../tables.ts";
import { writeAllotments } from "./allotments.ts";
import { arrayText } from "./array-text.ts";
import { headroomOf, lockCaps } from "./cap-table.ts";
import { inTransaction } from "./connect.ts";
import { isRecordFault } from "./faults.ts";
import { writeRpcRows } from "./rpc-rows.ts";

/**
 * Every row of a batch is looked up by its key. Without statistics, as on a new store, the planner would rather read whole
 * tables, and would keep such a plan while they grow.
 */
const BEGIN = "BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

/** Returns the store of one node's batches. */
export function batchRows(node: NodeEpoch): BatchStore<SQL> {
	return {
		transaction: (sql, work) => inTransaction(sql, (tx) => work(new BatchRows(tx, node)), BEGIN),
		isRecordFault,
	};
}

class BatchRows implements BatchTransaction {
	readonly #tx: SQL;
	readonly #node: NodeEpoch;
	/** Ids of posts that are not used yet. */
	#ids: readonly number[] = [];

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
		const accounts = arrayText(needs.accountIds);
		const places = [
			arrayText(needs.budgets.map((budget) => budget.accountId)),
			arrayText(needs.budgets.map((budget) => budget.source)),
			arrayText(needs.budgets.map((budget) => budget.day)),
		];
		const node = [this.#node.id, this.#node.epoch];
		const [boots, , budgets, headrooms, leases, numbers, ids, clock] = await Promise.all([
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
			needs.posts === 0 ? [] : tx.unsafe(NEW_IDS, [needs.posts]),
			tx.unsafe("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now"),
		]);
		this.#ids = idsOf(ids);
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
		const ids = await this.#newIds(plan.posts.length);
		const movements = plan.posts.flatMap((post, index) => post.parts.map((part) => ({ ...part, post, id: ids[index] ?? null })));
		const accounts = [...plan.accounts];
		const spent = accounts.flatMap((account) =>
			account.budgets.flatMap((budget) => (budget.spent !== 0 || budget.unleased !== 0 ? [{ account: account.id, budget }] : [])),
		);
		const daily = accounts.flatMap(dailySums).sort(byPlace);
		const capped = plan.capped.map(({ accountId, keyId, ...sum }) => ({ account_id: accountId, key_id: keyId, ...sum }));
		const writes: Promise<unknown>[] = [];
		if (plan.posts.length > 0) {
			const posts = plan.posts.map((post, index) => ({ ...post, id: ids[index] ?? null }));
			writes.push(tx.unsafe(INSERT_POSTS, [...arraysOf(POST_COLUMNS, posts), id, epoch, postedAtMs]));
		}
		if (movements.length > 0) writes.push(tx.unsafe(INSERT_MOVEMENTS, [...arraysOf(MOVEMENT_COLUMNS, movements), postedAtMs]));
		if (spent.length > 0) writes.push(tx.unsafe(SPEND, [...arraysOf(SPENT_COLUMNS, spent), id, epoch]));
		if (daily.length > 0) writes.push(tx.unsafe(COUNT_DAILY, arraysOf(DAILY_COLUMNS, daily)));
		if (capped.length > 0) writes.push(tx.unsafe(SPEND_CAPS, [capped, id, epoch]));
		if (plan.touches.size > 0) {
			const keys = tx.array([...plan.touches.keys()], "TEXT");
			writes.push(tx.unsafe(TOUCH, [keys, tx.array([...plan.touches.values()], "INT8")]));
		}
		writes.push(...writeRpcRows(tx, plan.rpc));
		await Promise.all(writes);
	}

	/** Returns ids of new posts, in order: their movements can then be written beside them, without a join. */
	async #newIds(count: number): Promise<readonly number[]> {
		// Records that are isolated need ids once more.
		if (this.#ids.length < count) this.#ids = idsOf(await this.#tx.unsafe(NEW_IDS, [count]));
		const ids = this.#ids.slice(0, count);
		this.#ids = this.#ids.slice(count);
		return ids;
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

/** A column of a table that is written: its type, and its value in a row. */
type Columns<Row> = Readonly<Record<string, readonly ["TEXT" | "INT8", (row: Row) => string | number | bigint | null]>>;

/** Returns an array for each column, in order: PostgreSQL reads them with less work than rows of JSON. */
function arraysOf<Row>(columns: Columns<Row>, rows: readonly Row[]): unknown[] {
	return Object.values(columns).map(([, value]) => arrayText(rows.map(value)));
}

/** Returns the rows of such arrays, which are the first parameters of a statement, as a table of this name. */
function tableOf(name: string, columns: Columns<never>): string {
	const arrays = Object.values(columns).map(([type], index) => `$${index + 1}::${type.toLowerCase()}[]`);
	return `unnest(${arrays.join(", ")}) AS ${name} (${Object.keys(columns).join(", ")})`;
}

const POST_COLUMNS: Columns<PlannedPost & { readonly id: number | null }> = {
	id: ["INT8", ({ id }) => id],
	request_id: ["TEXT", ({ record }) => record.id],
	seq: ["INT8", ({ seq }) => seq],
	account_id: ["TEXT", ({ record }) => record.accountId],
	key_id: ["TEXT", ({ record }) => record.keyId],
	day: ["INT8", ({ record }) => record.day],
	admitted_at: ["INT8", ({ record }) => record.admittedAtMs],
	done_at: ["INT8", ({ record }) => record.doneAtMs],
	route: ["TEXT", ({ record }) => record.route],
	model: ["TEXT", ({ record }) => record.model],
	upstream: ["TEXT", ({ record }) => record.upstream],
	status: ["INT8", ({ record }) => record.status],
	hold: ["INT8", ({ record }) => record.holdNano],
	price: ["INT8", ({ record }) => record.priceNano],
	prompt_tokens: ["INT8", ({ record }) => record.usage?.promptTokens ?? null],
	completion_tokens: ["INT8", ({ record }) => record.usage?.completionTokens ?? null],
	cached_tokens: ["INT8", ({ record }) => record.usage?.cachedTokens ?? null],
	cache_write_tokens: ["INT8", ({ record }) => record.usage?.cacheWriteTokens ?? null],
	reasoning_tokens: ["INT8", ({ record }) => record.usage?.reasoningTokens ?? null],
	tokens_counted: ["INT8", ({ record }) => (record.usage ? Number(record.usage.counted) : null)],
	entries: ["INT8", ({ numbers }) => numbers.entries],
	entries_usd: ["INT8", ({ numbers }) => numbers.usd],
	entries_bundled: ["INT8", ({ numbers }) => numbers.bundled],
	entries_diem: ["INT8", ({ numbers }) => numbers.diem],
};

const MOVEMENT_COLUMNS: Columns<PaidPart & { readonly post: PlannedPost; readonly id: number | null }> = {
	post_id: ["INT8", ({ id }) => id],
	payer: ["TEXT", ({ source, post }) => (source === "overrun" ? OVERRUN : post.record.accountId)],
	source: ["TEXT", ({ source }) => source],
	amount: ["INT8", ({ amount }) => amount],
	sku: ["TEXT", ({ sku }) => sku],
	units: ["INT8", ({ units }) => units],
	pico_price: ["INT8", ({ picoPrice }) => picoPrice],
	day: ["INT8", ({ post }) => post.record.day],
	occurred_at: ["INT8", ({ post }) => post.record.doneAtMs],
	balance_after: ["INT8", ({ balanceAfter }) => balanceAfter],
};

const SPENT_COLUMNS: Columns<{ readonly account: string; readonly budget: BatchBudget }> = {
	account_id: ["TEXT", ({ account }) => account],
	source: ["TEXT", ({ budget }) => budget.source],
	day: ["INT8", ({ budget }) => budget.day],
	amount: ["INT8", ({ budget }) => budget.spent],
	leased: ["INT8", ({ budget }) => budget.unleased],
};

/** Sums of one row; a sum past 2^53 is exact only as BigInt. */
interface DailySum extends Omit<UsageSum, "amount" | "units"> {
	readonly accountId: string;
	amount: number | bigint;
	units: number | bigint;
}

const DAILY_COLUMNS: Columns<DailySum> = {
	account_id: ["TEXT", ({ accountId }) => accountId],
	key_id: ["TEXT", ({ keyId }) => keyId],
	day: ["INT8", ({ day }) => day],
	unit: ["TEXT", ({ unit }) => unit],
	sku: ["TEXT", ({ sku }) => sku],
	amount: ["INT8", ({ amount }) => amount],
	units: ["INT8", ({ units }) => units],
	rows: ["INT8", ({ rows }) => rows],
};

/** Returns the sums of an account by row: a statement can write a row only once. */
function dailySums({ id: accountId, usage }: BatchAccount): DailySum[] {
	const sums = new Map<string, DailySum>();
	for (const sum of usage) {
		const place = `${sum.keyId}\n${sum.day}\n${sum.unit}\n${sum.sku}`;
		const before = sums.get(place);
		if (before === undefined) sums.set(place, { ...sum, accountId });
		else {
			before.amount = BigInt(before.amount) + BigInt(sum.amount);
			before.units = BigInt(before.units) + BigInt(sum.units);
			before.rows += sum.rows;
		}
	}
	return [...sums.values()];
}

/** Orders rows alike on all nodes, so that two that write the same rows never wait for each other. */
function byPlace(a: DailySum, b: DailySum): number {
	return (
		compare(a.accountId, b.accountId) ||
		compare(a.keyId, b.keyId) ||
		a.day - b.day ||
		compare(a.unit, b.unit) ||
		compare(a.sku, b.sku)
	);
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
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

/** One text is read faster than a row for each. */
const NEW_IDS = "SELECT string_agg(nextval('posts_id_seq')::text, ',') AS ids FROM generate_series(1, $1::int8)";

function idsOf(rows: readonly { readonly ids: string }[]): readonly number[] {
	return rows.flatMap(({ ids }) => ids.split(",").map(Number));
}

const postParameters = Object.keys(POST_COLUMNS).length;
const postColumns = Object.keys(POST_COLUMNS);

/** An account that does not exist is refused as NULL. A foreign key would look it up for each row by a query of its own. */
const INSERT_POSTS = `
	INSERT INTO posts (${postColumns.join(", ")}, node_id, epoch, booked_at) OVERRIDING SYSTEM VALUE
	SELECT ${postColumns.map((name) => (name === "account_id" ? "(SELECT accounts.id FROM accounts WHERE accounts.id = post.account_id)" : name)).join(", ")},
		$${postParameters + 1}, $${postParameters + 2}::int8, $${postParameters + 3}::int8
	FROM ${tableOf("post", POST_COLUMNS)}`;

const INSERT_MOVEMENTS = `
	INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at, balance_after)
	SELECT CASE source WHEN 'overrun' THEN 'overrun' ELSE 'charge' END, payer, '${REVENUE}', amount,
		CASE source WHEN 'overrun' THEN 'usd' ELSE source END, post_id, sku, units, pico_price, day, occurred_at,
		$${Object.keys(MOVEMENT_COLUMNS).length + 1}::int8, balance_after
	FROM ${tableOf("part", MOVEMENT_COLUMNS)}`;

/**
 * Reduces balance and lease by the same amount. Each row is looked up (`LIMIT`): a join of unknown size may compare all
 * rows with all. Their places stay, since the budgets are locked, and leases change only under that lock.
 */
const SPEND = `
	WITH spent AS (
		SELECT * FROM ${tableOf("part", SPENT_COLUMNS)}
	), lease AS (
		UPDATE leases SET amount = leases.amount - part.leased
		FROM (
			SELECT spent.leased, found.place FROM spent CROSS JOIN LATERAL (
				SELECT ctid AS place FROM leases WHERE node_id = $6 AND epoch = $7 AND leases.account_id = spent.account_id
					AND leases.source = spent.source AND leases.day = spent.day LIMIT 1
			) AS found WHERE spent.leased > 0
		) AS part
		WHERE leases.ctid = part.place
	)
	UPDATE budgets SET balance = balance - part.amount, leased = budgets.leased - part.leased
	FROM (
		SELECT spent.amount, spent.leased, found.place FROM spent CROSS JOIN LATERAL (
			SELECT ctid AS place FROM budgets WHERE budgets.account_id = spent.account_id AND budgets.source = spent.source
				AND budgets.day = spent.day LIMIT 1
		) AS found
	) AS part
	WHERE budgets.ctid = part.place`;

const COUNT_DAILY = `
	INSERT INTO usage_daily AS daily (${Object.keys(DAILY_COLUMNS).join(", ")})
	SELECT * FROM ${tableOf("part", DAILY_COLUMNS)}
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
