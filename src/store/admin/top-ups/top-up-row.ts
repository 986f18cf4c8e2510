import type { Selectable } from "kysely";
import { type Nano, nano } from "../../../ledger/nano.ts";
import type { StoreDb, Tables, TopUpState } from "../../tables.ts";
import { AdminError } from "../errors.ts";

/** Identifies a payment: the chain accepts it once. */
export interface TopUpKey {
	/** CAIP-2. */
	readonly network: string;
	readonly asset: string;
	readonly payer: string;
	/** Nonce of an authorization; on Solana the SHA-256 of the signed message. */
	readonly nonce: string;
}

/** A payment as the books have it. */
export interface TopUp extends TopUpKey {
	readonly id: string;
	readonly payTo: string;
	/** Base units of the token. */
	readonly units: number;
	readonly amount: Nano;
	/** Unix seconds; on Solana the height of the last block that accepts it. */
	readonly validBefore: number;
	/** JSON of what was signed, with the signature. */
	readonly proof: string;
	readonly state: TopUpState;
	readonly settler: string;
	readonly settlerUntilMs: number;
	/** It was unused below this block (on Solana: slot). */
	readonly fromBlock: number;
	readonly transaction: string | null;
	readonly logIndex: number | null;
	readonly reason: string | null;
	readonly createdAtMs: number;
	/** Set for a credited one. */
	readonly credit: { readonly accountId: string; readonly balanceAfter: Nano } | null;
}

type Row = Selectable<Tables["top_ups"]> & { readonly balance_after: bigint | null };

/** Selects rows with the balance after their credit. */
export function topUpRows(db: StoreDb) {
	return db
		.selectFrom("top_ups")
		.leftJoin("movements", "movements.id", "top_ups.movement_id")
		.selectAll("top_ups")
		.select("movements.balance_after");
}

export function topUpOf(row: Row): TopUp {
	const { account_id: accountId, balance_after: balanceAfter } = row;
	return {
		id: row.id,
		network: row.network,
		asset: row.asset,
		payer: row.payer,
		nonce: row.nonce,
		payTo: row.pay_to,
		units: Number(row.units),
		amount: nano(Number(row.amount)),
		validBefore: Number(row.valid_before),
		proof: row.proof,
		state: row.state,
		settler: row.settler,
		settlerUntilMs: Number(row.settler_until),
		fromBlock: Number(row.from_block),
		transaction: row.transaction_hash,
		logIndex: row.log_index === null ? null : Number(row.log_index),
		reason: row.reason,
		createdAtMs: Number(row.created_at),
		credit: accountId === null || balanceAfter === null ? null : { accountId, balanceAfter: nano(Number(balanceAfter)) },
	};
}

export async function findRow(db: StoreDb, key: TopUpKey): Promise<TopUp | null> {
	const row = await topUpRows(db)
		.where("network", "=", key.network)
		.where("asset", "=", key.asset)
		.where("payer", "=", key.payer)
		.where("nonce", "=", key.nonce)
		.executeTakeFirst();
	return row === undefined ? null : topUpOf(row);
}

/** Throws `AdminError` (NOT_FOUND). */
export async function requireRow(db: StoreDb, id: string): Promise<TopUp> {
	const row = await topUpRows(db).where("top_ups.id", "=", id).executeTakeFirst();
	if (row === undefined) throw new AdminError("NOT_FOUND", `there is no top-up ${id}`);
	return topUpOf(row);
}

/** Returns true where the outcome is not known yet. */
export function isOpen({ state }: Pick<TopUp, "state">): boolean {
	return state === "settling" || state === "unknown";
}
