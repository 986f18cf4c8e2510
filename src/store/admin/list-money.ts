import { sql } from "kysely";
import type { MoneySource } from "../../journal/records.ts";
import { type Nano, nano } from "../../ledger/nano.ts";
import type { StoreDb } from "../tables.ts";
import { requireAccount } from "./find-account.ts";
import type { AdminStore } from "./open-admin.ts";
import type { Referred } from "./references.ts";

export interface ListMoney {
	readonly what: Referred;
	readonly accountId: string;
	/** The last position of the page before; null: from the newest on. */
	readonly before: number | null;
	readonly limit: number;
}

/** One movement of money by the operator. */
export interface MoneyEntry {
	/** Position in the order; later entries have higher ones. */
	readonly place: number;
	readonly reference: string;
	readonly source: MoneySource;
	readonly amount: Nano;
	/** Balance of the source right after it. */
	readonly balanceAfter: Nano;
	/** For a refund: the charged request. */
	readonly requestId: string | null;
	readonly bookedAtMs: number;
}

/**
 * Returns credits, debits or refunds of an account, newest first, at the cost of the page. A refund has an entry for
 * each source. Throws `AdminError` (NOT_FOUND).
 */
export function listMoney(admin: AdminStore, input: ListMoney): Promise<MoneyEntry[]> {
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			await requireAccount(tx, input.accountId);
			const { what, accountId, before: after, limit } = input;
			return entriesOf(tx, what, { accountId, currency: null, fromMs: null, toMs: null, order: "desc", after, limit });
		});
}

/** A credit, debit or refund of an account. */
export interface AccountMovement extends MoneyEntry {
	readonly kind: "credit" | "debit" | "refund";
}

const KINDS = [
	["credit", "credits"],
	["debit", "debits"],
	["refund", "refunds"],
] as const;

/** A page of movements. Times are Unix milliseconds, `toMs` excluded; null: no bound. */
export interface ListMovements {
	readonly accountId: string;
	readonly currency: MoneySource | null;
	readonly fromMs: number | null;
	readonly toMs: number | null;
	readonly order: "asc" | "desc";
	/** The last position of the page before; null: from the beginning of the list. */
	readonly after: number | null;
	readonly limit: number;
}

/**
 * Returns all three together, at the cost of three pages. With times it may read all movements of the account, which
 * are few beside its charges.
 */
export function listMovements(admin: AdminStore, page: ListMovements): Promise<AccountMovement[]> {
	const sign = page.order === "asc" ? 1 : -1;
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const movementEntries: AccountMovement[] = [];
			for (const [kind, what] of KINDS)
				for (const entry of await entriesOf(tx, what, page)) movementEntries.push({ ...entry, kind });
			return movementEntries.sort((one, other) => sign * (one.place - other.place)).slice(0, page.limit);
		});
}

async function entriesOf(tx: StoreDb, what: Referred, page: ListMovements): Promise<MoneyEntry[]> {
	const rows = await (what === "refunds" ? refundsOf(tx, page) : ofUsd(tx, what, page));
	return rows.map((row) => ({
		place: Number(row.movement_id),
		reference: row.reference,
		source: row.unit,
		amount: nano(Number(row.amount)),
		balanceAfter: nano(Number(row.balance_after)),
		requestId: row.request_id,
		bookedAtMs: Number(row.created_at),
	}));
}

async function ofUsd(tx: StoreDb, what: "credits" | "debits", page: ListMovements) {
	if (page.currency !== null && page.currency !== "usd") return [];
	// Both tables have the same columns; their union is too complex for the query's types.
	const table = what as "credits";
	const rows = await tx
		.selectFrom(`${table} as entries`)
		.innerJoin("movements", "movements.id", "entries.movement_id")
		.select(["entries.movement_id", "entries.reference", "entries.amount", "entries.created_at", "movements.balance_after"])
		.where("entries.account_id", "=", page.accountId)
		.where(within(page))
		.orderBy("entries.movement_id", page.order)
		.limit(page.limit)
		.execute();
	return rows.map((row) => ({ ...row, unit: "usd" as const, request_id: null }));
}

function refundsOf(tx: StoreDb, page: ListMovements) {
	let query = tx
		.selectFrom("refunds as entries")
		.innerJoin("movements", "movements.id", "entries.movement_id")
		.innerJoin("posts", "posts.id", "entries.post_id")
		.select(["entries.movement_id", "entries.reference", "entries.unit", "entries.amount", "entries.created_at"])
		.select(["movements.balance_after", "posts.request_id"])
		.where("entries.account_id", "=", page.accountId)
		.where(within(page));
	if (page.currency !== null) query = query.where("entries.unit", "=", page.currency);
	return query.orderBy("entries.movement_id", page.order).limit(page.limit).execute();
}

/** Returns the condition that an entry is on the page. */
function within({ after, order, fromMs, toMs }: ListMovements) {
	const place = sql.ref("entries.movement_id");
	const time = sql.ref("entries.created_at");
	const conditions = [sql<boolean>`1 = 1`];
	if (after !== null) conditions.push(order === "asc" ? sql`${place} > ${BigInt(after)}` : sql`${place} < ${BigInt(after)}`);
	if (fromMs !== null) conditions.push(sql`${time} >= ${fromMs}`);
	if (toMs !== null) conditions.push(sql`${time} < ${toMs}`);
	return sql<boolean>`${sql.join(conditions, sql` AND `)}`;
}
