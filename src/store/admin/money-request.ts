/** The common part of credits and debits: an amount of USD, moved once for its reference. */
import type { Transaction } from "kysely";
import { formatNano, type Nano, nano } from "../../ledger/nano.ts";
import type { Tables } from "../tables.ts";
import { balanceOf } from "./movements.ts";
import { referenceUsed } from "./references.ts";

export interface MoneyRequest {
	readonly accountId: string;
	/** USD as decimal text: digits, at most 9 places, no sign, no exponent. */
	readonly amount: string;
	/** Names the movement: a second one under the same name changes nothing. Left out: a new name. */
	readonly reference?: string;
}

export interface BookedOnce {
	readonly accountId: string;
	readonly reference: string;
	readonly amount: Nano;
	/** Current USD balance of the account. */
	readonly balance: Nano;
	/** USD balance right after the movement; repeats return the same. */
	readonly balanceAfter: Nano;
	/** Unix milliseconds. */
	readonly bookedAtMs: number;
	/** True where it was done before under this reference, and nothing was moved now. */
	readonly replayed: boolean;
}

/**
 * Returns the first movement under a reference; null where there is none. Throws `AdminError` (REFERENCE_USED) where
 * it was for something else.
 */
export async function findBooked(
	tx: Transaction<Tables>,
	table: "credits" | "debits",
	reference: string,
	accountId: string,
	amount: Nano,
): Promise<BookedOnce | null> {
	const first = await tx.selectFrom(table).selectAll().where("reference", "=", reference).executeTakeFirst();
	if (first === undefined) return null;
	if (first.account_id !== accountId || first.amount !== BigInt(amount)) {
		throw referenceUsed(reference, `a ${table.slice(0, -1)} of ${formatNano(first.amount)} USD of ${first.account_id}`);
	}
	const movement = await tx
		.selectFrom("movements")
		.select("balance_after")
		.where("id", "=", first.movement_id)
		.executeTakeFirstOrThrow();
	const { balance } = await balanceOf(tx, accountId, "usd");
	return {
		accountId,
		reference,
		amount,
		balance: nano(Number(balance)),
		balanceAfter: nano(Number(movement.balance_after)),
		bookedAtMs: Number(first.created_at),
		replayed: true,
	};
}
