/**
 * Stakes of accounts. A stake that the operator sets counts from the next UTC day on, until another one does. A stake
 * on the chain counts only for the day for which it was read (accounts with a linked wallet, unless the operator set
 * theirs): an unread day pays nothing.
 */
import type { Transaction } from "kysely";
import { type Nano, nano } from "../../ledger/nano.ts";
import { DAY_MS } from "../core/day.ts";
import type { StakeSource, StoreDb, Tables } from "../tables.ts";
import { nextReadingDay } from "./wallets.ts";

/** Returns the stake that counts on a day, in nano-diem. */
export async function stakeOn(db: StoreDb, accountId: string, day: number): Promise<Nano> {
	const row = await latestRow(db, accountId, day);
	if (row === undefined || (row.source === "chain" && row.from_day !== BigInt(day))) return nano(0);
	return nano(Number(row.stake));
}

/** Returns the last stake known on a day, whether it still counts or not. */
export async function lastStakeKnown(db: StoreDb, accountId: string, day: number): Promise<Nano> {
	return nano(Number((await latestRow(db, accountId, day))?.stake ?? 0n));
}

function latestRow(db: StoreDb, accountId: string, day: number) {
	return db
		.selectFrom("diem_stakes")
		.select(["stake", "source", "from_day"])
		.where("account_id", "=", accountId)
		.where("from_day", "<=", BigInt(day))
		.orderBy("from_day", "desc")
		.limit(1)
		.executeTakeFirst();
}

/**
 * Makes the operator decide the stake. `stake` counts from the next UTC day on: one that counted at once could be
 * moved and paid twice.
 */
export async function setOperatorStake(tx: Transaction<Tables>, accountId: string, stake: Nano, atMs: number): Promise<void> {
	await tx.updateTable("accounts").set({ stake_source: "operator" }).where("id", "=", accountId).execute();
	await insertStakes(tx, [{ accountId, fromDay: Math.floor(atMs / DAY_MS) + 1, stake, source: "operator" }], atMs);
}

/** Makes the chain decide the stake from the next UTC day on; the operator's stake ends then. */
export async function setChainStake(tx: Transaction<Tables>, accountId: string, atMs: number): Promise<void> {
	const { stake_source } = await tx
		.selectFrom("accounts")
		.select("stake_source")
		.where("id", "=", accountId)
		.executeTakeFirstOrThrow();
	if (stake_source === "chain") return;
	const fromDay = await nextReadingDay(tx, atMs);
	await tx.updateTable("accounts").set({ stake_source: "chain", chain_from_day: fromDay }).where("id", "=", accountId).execute();
	await insertStakes(tx, [{ accountId, fromDay: Math.floor(atMs / DAY_MS) + 1, stake: nano(0), source: "operator" }], atMs);
}

export interface NewStake {
	readonly accountId: string;
	readonly fromDay: number;
	readonly stake: Nano;
	readonly source: StakeSource;
}

/** Writes stakes in one statement; each replaces the stake of its account from the same day on. */
export async function insertStakes(tx: Transaction<Tables>, stakes: readonly NewStake[], atMs: number): Promise<void> {
	if (stakes.length === 0) return;
	await tx
		.insertInto("diem_stakes")
		.values(
			stakes.map(({ accountId, fromDay, stake, source }) => ({
				account_id: accountId,
				from_day: fromDay,
				stake,
				set_at: atMs,
				source,
			})),
		)
		.onConflict((conflict) =>
			conflict.columns(["account_id", "from_day"]).doUpdateSet((row) => ({
				stake: row.ref("excluded.stake"),
				set_at: row.ref("excluded.set_at"),
				source: row.ref("excluded.source"),
			})),
		)
		.execute();
}
