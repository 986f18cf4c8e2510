/** Moves money into or out of an account's free balance on behalf of the operator. */
import { sql, type Transaction } from "kysely";
import type { MoneySource } from "../../journal/records.ts";
import { formatNano, NANO_PER_USD, type Nano } from "../../ledger/nano.ts";
import { DAY_MS } from "../core/day.ts";
import { ISSUED, type MovementKind, type REVENUE, type Tables } from "../tables.ts";
import { AdminError } from "./errors.ts";

const MAX_BALANCE_NANO = 4_000_000 * NANO_PER_USD;

export interface Booked {
	readonly movementId: bigint;
	readonly balance: bigint;
}

/** Money of one source to add to an account. */
export interface Incoming {
	readonly kind: Extract<MovementKind, "credit" | "grant">;
	readonly from: typeof ISSUED | typeof REVENUE;
	readonly accountId: string;
	readonly source: MoneySource;
	/** For diem: its UTC day. */
	readonly diemDay?: number;
	readonly amount: Nano;
	readonly atMs: number;
}

/** Adds money to an account: balance row and movement. Throws `AdminError` (INVALID) past the largest balance. */
export async function issue(tx: Transaction<Tables>, incoming: Incoming): Promise<Booked> {
	const { kind, from, accountId, source, diemDay = 0, amount, atMs } = incoming;
	const before = await balanceOf(tx, accountId, source, diemDay);
	if (before.balance + BigInt(amount) > BigInt(MAX_BALANCE_NANO)) {
		const most = formatNano(BigInt(MAX_BALANCE_NANO) - before.balance, 0);
		throw new AdminError("INVALID", `a balance is at most ${formatNano(MAX_BALANCE_NANO, 0)} USD; ${most} more would fit`);
	}
	const { balance } = await tx
		.insertInto("budgets")
		.values({ account_id: accountId, source, day: diemDay, balance: amount, leased: 0 })
		.onConflict((conflict) =>
			conflict.columns(["account_id", "source", "day"]).doUpdateSet({ balance: sql`budgets.balance + excluded.balance` }),
		)
		.returning("balance")
		.executeTakeFirstOrThrow();
	const day = source === "diem" ? diemDay : Math.floor(atMs / DAY_MS);
	const movementId = await move(tx, { kind, debit: from, credit: accountId, unit: source, amount, day, balance, atMs });
	return { balance, movementId };
}

/**
 * Returns free money to the issuer. Throws `AdminError`: INVALID where the account has less, MONEY_LEASED where it
 * has enough but less is free.
 */
export async function withdraw(
	tx: Transaction<Tables>,
	accountId: string,
	source: Exclude<MoneySource, "diem">,
	amount: Nano,
	atMs: number,
): Promise<Booked> {
	// This is one step, because on PostgreSQL a node may lease or spend between a read and a write.
	const updatedBudget = await tx
		.updateTable("budgets")
		.set({ balance: sql`balance - ${amount}` })
		.where("account_id", "=", accountId)
		.where("source", "=", source)
		.where("day", "=", 0n)
		.where(sql<boolean>`balance - leased >= ${amount}`)
		.returning("balance")
		.executeTakeFirst();
	if (updatedBudget === undefined) {
		const { balance, leased } = await balanceOf(tx, accountId, source);
		if (balance < BigInt(amount)) {
			throw new AdminError("INVALID", `only ${formatNano(balance, 0)} can be taken back; nothing was changed`);
		}
		const free = formatNano(balance - leased, 0);
		throw new AdminError(
			"MONEY_LEASED",
			`only ${free} of that amount is free now; the rest is leased to a running server, for running requests. Nothing was changed; try again when they have ended`,
		);
	}
	const { balance } = updatedBudget;
	const day = Math.floor(atMs / DAY_MS);
	const sides = { debit: accountId, credit: ISSUED };
	return { balance, movementId: await move(tx, { kind: "grant", ...sides, unit: source, amount, day, balance, atMs }) };
}

/** Does as `balanceOf`; on PostgreSQL no node applies a charge to it before the transaction ends. */
export async function lockedBalance(
	tx: Transaction<Tables>,
	accountId: string,
	source: Exclude<MoneySource, "diem">,
): Promise<bigint> {
	const row = await tx
		.updateTable("budgets")
		.set({ balance: sql`balance` })
		.where("account_id", "=", accountId)
		.where("source", "=", source)
		.where("day", "=", 0n)
		.returning("balance")
		.executeTakeFirst();
	return row?.balance ?? 0n;
}

export async function balanceOf(
	tx: Transaction<Tables>,
	accountId: string,
	source: MoneySource,
	diemDay = 0,
): Promise<{ balance: bigint; leased: bigint }> {
	const row = await tx
		.selectFrom("budgets")
		.select(["balance", "leased"])
		.where("account_id", "=", accountId)
		.where("source", "=", source)
		.where("day", "=", BigInt(diemDay))
		.executeTakeFirst();
	return row ?? { balance: 0n, leased: 0n };
}

interface Movement {
	readonly kind: MovementKind;
	readonly debit: string;
	readonly credit: string;
	readonly unit: MoneySource;
	readonly amount: Nano;
	readonly day: number;
	/** Balance of the account after the movement. */
	readonly balance: bigint;
	readonly atMs: number;
}

async function move(tx: Transaction<Tables>, movement: Movement): Promise<bigint> {
	const { kind, debit, credit, amount, unit, day, balance, atMs } = movement;
	const last = await tx.selectFrom("movements").select("booked_at").orderBy("id", "desc").limit(1).executeTakeFirst();
	const { id } = await tx
		.insertInto("movements")
		.values({
			kind,
			debit,
			credit,
			amount,
			unit,
			day,
			occurred_at: atMs,
			// Pages are ordered by booked_at, so it never goes backwards, even where the clock does.
			booked_at: Math.max(atMs, Number(last?.booked_at ?? 0)),
			balance_after: balance,
		})
		.returning("id")
		.executeTakeFirstOrThrow();
	return id;
}
