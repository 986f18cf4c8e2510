import type { Selectable } from "kysely";
import { type Nano, nano } from "../../../ledger/nano.ts";
import type { StoreDb, Tables, TopUpState } from "../../tables.ts";
import { AdminError } from "../errors.ts";

/** What names a payment: the chain takes it once. */
export interface TopUpKey {
	/** CAIP-2. */
	readonly network: string;
	readonly asset: string;
	readonly payer: string;
	/** Of an authorization; on Solana the SHA-256 of the message that is signed. */
	readonly nonce: string;
}

/** A payment as the books hold it. */
export interface TopUp extends TopUpKey {
	readonly id: string;
	readonly payTo: string;
	/** Base units of the token. */
	readonly units: number;
	readonly amount: Nano;
	/** Unix seconds; on Solana the height of the last block that takes it. */
	readonly validBefore: number;
	/** JSON of what was signed, with the signature. */
	readonly proof: string;
	readonly state: TopUpState;
	readonly settler: string;
	readonly settlerUntilMs: number;
	/** Below this block (on Solana: slot) nothing of it had happened. */
	readonly fromBlock: number;
	readonly transaction: string | null;
	readonly logIndex: number | null;
	readonly reason: string | null;
	readonly createdAtMs: number;
	/** Of a credited one. */
	readonly credit: { readonly accountId: string; readonly balanceAfter: Nano } | null;
}

type Row = Selectable<Tables["top_ups"]> & { readonly balance_after: bigint | null };

/** Rows with the balance that a credit left behind. */
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

/** True where nobody knows yet what comes of it. */
export function isOpen({ state }: Pick<TopUp, "state">): boolean {
	return state === "settling" || state === "unknown";
}
