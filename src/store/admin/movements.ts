/** Money that comes into an account's free balance, or leaves it, by the operator's hand. */
import { sql, type Transaction } from "kysely";
import type { MoneySource } from "../../journal/records.ts";
import { formatNano, NANO_PER_USD, type Nano } from "../../ledger/nano.ts";
import { ISSUED, type MovementKind, type Tables } from "../tables.ts";
import { AdminError, MoneyLeasedError } from "./errors.ts";

/** A single credit is at most this; so sums of a few billion movements stay exact. */
export const MAX_CREDIT_NANO = 1_000_000 * NANO_PER_USD;
export const MAX_BALANCE_NANO = 4_000_000 * NANO_PER_USD;

export interface Booked {
	readonly movementId: bigint;
	readonly balance: bigint;
}

/** Issues money to an account: balance row and movement. Throws `AdminError` past the largest balance. */
export async function issue(
	tx: Transaction<Tables>,
	kind: Extract<MovementKind, "credit" | "grant">,
	accountId: string,
	source: Exclude<MoneySource, "diem">,
	amount: Nano,
	atMs: number,
): Promise<Booked> {
	const before = await balanceOf(tx, accountId, source);
	if (before.balance + BigInt(amount) > BigInt(MAX_BALANCE_NANO)) {
		const most = formatNano(BigInt(MAX_BALANCE_NANO) - before.balance, 0);
		throw new AdminError("INVALID", `a balance is at most ${formatNano(MAX_BALANCE_NANO, 0)} USD; ${most} more would fit`);
	}
	const { balance } = await tx
		.insertInto("budgets")
		.values({ account_id: accountId, source, day: 0, balance: amount, leased: 0 })
		.onConflict((conflict) =>
			conflict.columns(["account_id", "source", "day"]).doUpdateSet({ balance: sql`budgets.balance + excluded.balance` }),
		)
		.returning("balance")
		.executeTakeFirstOrThrow();
	return { balance, movementId: await move(tx, kind, { debit: ISSUED, credit: accountId }, source, amount, balance, atMs) };
}

/** Takes free money back to the issuer. Throws `MoneyLeasedError` where less is free. */
export async function withdraw(
	tx: Transaction<Tables>,
	accountId: string,
	source: Exclude<MoneySource, "diem">,
	amount: Nano,
	atMs: number,
): Promise<Booked> {
	// In one step: on PostgreSQL a node may lease or spend between a look and a change.
	const taken = await tx
		.updateTable("budgets")
		.set({ balance: sql`balance - ${amount}` })
		.where("account_id", "=", accountId)
		.where("source", "=", source)
		.where("day", "=", 0n)
		.where(sql<boolean>`balance - leased >= ${amount}`)
		.returning("balance")
		.executeTakeFirst();
	if (taken === undefined) {
		const { balance, leased } = await balanceOf(tx, accountId, source);
		const free = formatNano(balance - leased, 0);
		throw new MoneyLeasedError(
			`only ${free} of what is to be taken back is free now; the rest is leased to a running server, for requests that are under way. Nothing was changed; try again when they have ended`,
		);
	}
	const { balance } = taken;
	return { balance, movementId: await move(tx, "grant", { debit: accountId, credit: ISSUED }, source, amount, balance, atMs) };
}

export async function balanceOf(
	tx: Transaction<Tables>,
	accountId: string,
	source: Exclude<MoneySource, "diem">,
): Promise<{ balance: bigint; leased: bigint }> {
	const row = await tx
		.selectFrom("budgets")
		.select(["balance", "leased"])
		.where("account_id", "=", accountId)
		.where("source", "=", source)
		.where("day", "=", 0n)
		.executeTakeFirst();
	return row ?? { balance: 0n, leased: 0n };
}

async function move(
	tx: Transaction<Tables>,
	kind: MovementKind,
	sides: { debit: string; credit: string },
	unit: MoneySource,
	amount: Nano,
	balanceAfter: bigint,
	atMs: number,
): Promise<bigint> {
	const last = await tx.selectFrom("movements").select("booked_at").orderBy("id", "desc").limit(1).executeTakeFirst();
	const { id } = await tx
		.insertInto("movements")
		.values({
			kind,
			...sides,
			amount,
			unit,
			day: Math.floor(atMs / 86_400_000),
			occurred_at: atMs,
			// Pages follow booked_at: it never goes back, even where the clock does.
			booked_at: Math.max(atMs, Number(last?.booked_at ?? 0)),
			balance_after: balanceAfter,
		})
		.returning("id")
		.executeTakeFirstOrThrow();
	return id;
}
