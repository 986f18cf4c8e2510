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
			return entriesOf(tx, input);
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

/** Returns all three together, newest first, at the cost of three pages. */
export function listMovements(admin: AdminStore, page: Omit<ListMoney, "what">): Promise<AccountMovement[]> {
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const movementEntries: AccountMovement[] = [];
			for (const [kind, what] of KINDS)
				for (const entry of await entriesOf(tx, { ...page, what })) movementEntries.push({ ...entry, kind });
			return movementEntries.sort((one, other) => other.place - one.place).slice(0, page.limit);
		});
}

async function entriesOf(tx: StoreDb, input: ListMoney): Promise<MoneyEntry[]> {
	const rows = await (input.what === "refunds" ? refundsOf(tx, input) : ofUsd(tx, input.what, input));
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

async function ofUsd(tx: StoreDb, what: "credits" | "debits", { accountId, before, limit }: ListMoney) {
	// Both tables have the same columns; their union is too complex for the query's types.
	const table = what as "credits";
	let query = tx
		.selectFrom(`${table} as entries`)
		.innerJoin("movements", "movements.id", "entries.movement_id")
		.select(["entries.movement_id", "entries.reference", "entries.amount", "entries.created_at", "movements.balance_after"])
		.where("entries.account_id", "=", accountId);
	if (before !== null) query = query.where("entries.movement_id", "<", BigInt(before));
	const rows = await query.orderBy("entries.movement_id", "desc").limit(limit).execute();
	return rows.map((row) => ({ ...row, unit: "usd" as const, request_id: null }));
}

function refundsOf(tx: StoreDb, { accountId, before, limit }: ListMoney) {
	let query = tx
		.selectFrom("refunds")
		.innerJoin("movements", "movements.id", "refunds.movement_id")
		.innerJoin("posts", "posts.id", "refunds.post_id")
		.select(["refunds.movement_id", "refunds.reference", "refunds.unit", "refunds.amount", "refunds.created_at"])
		.select(["movements.balance_after", "posts.request_id"])
		.where("refunds.account_id", "=", accountId);
	if (before !== null) query = query.where("refunds.movement_id", "<", BigInt(before));
	return query.orderBy("refunds.movement_id", "desc").limit(limit).execute();
}
