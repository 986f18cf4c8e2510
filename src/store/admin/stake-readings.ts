/**
 * The reading of a UTC day's stakes from the chain. One node reads at a time, another takes over when its term has
 * ended, and all read at the one block that was chosen first. So it does not matter who reads, how often, or how
 * late: a stake counts where it was at that block.
 */
import type { Transaction } from "kysely";
import { nano } from "../../ledger/nano.ts";
import { MIN_STAKE_NANO } from "../core/stake.ts";
import type { Tables } from "../tables.ts";
import { noteChanges } from "./changes.ts";
import type { AdminStore } from "./open-admin.ts";
import { insertStakes } from "./stakes.ts";

export interface StakeBlock {
	readonly number: number;
	readonly hash: string;
}

/** What a node may do for a day now. */
export type StakeReadingTurn =
	/** This node reads. `block` is null until one is chosen. */
	| { readonly turn: "read"; readonly block: StakeBlock | null }
	/** Another node reads. */
	| { readonly turn: "wait" }
	| { readonly turn: "done" }
	/** The day's reading began with another contract: the rest of the reading must wait for the next day. */
	| { readonly turn: "other-origin"; readonly origin: string };

export interface TakeStakeReading {
	readonly day: number;
	/** Identifies chain, contract and view. */
	readonly origin: string;
	/** Id of the node. */
	readonly reader: string;
	/** How long the reader may be silent before another one takes over, in milliseconds. */
	readonly termMs: number;
}

/** Takes the day's reading for a node, or extends its turn. */
export function takeStakeReading(admin: AdminStore, input: TakeStakeReading): Promise<StakeReadingTurn> {
	const { day, origin, reader, termMs } = input;
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		const row = await tx.selectFrom("stake_readings").selectAll().where("day", "=", BigInt(day)).executeTakeFirst();
		const mine = { origin, reader, reader_until: atMs + termMs };
		if (row === undefined) {
			await tx
				.insertInto("stake_readings")
				.values({ day, block: null, block_hash: null, finished_at: null, ...mine })
				.execute();
			return { turn: "read", block: null };
		}
		if (row.finished_at !== null) return { turn: "done" };
		if (row.origin !== origin && row.block !== null) return { turn: "other-origin", origin: row.origin };
		if (row.reader !== reader && Number(row.reader_until) > atMs) return { turn: "wait" };
		await tx.updateTable("stake_readings").set(mine).where("day", "=", BigInt(day)).execute();
		return { turn: "read", block: blockOf(row) };
	});
}

/** Chooses the block of a day's reading. The first choice stays, and is returned. */
export function chooseStakeBlock(
	admin: AdminStore,
	input: { readonly day: number; readonly block: StakeBlock },
): Promise<StakeBlock> {
	const { day, block } = input;
	return admin.db.transaction().execute(async (tx) => {
		await tx
			.updateTable("stake_readings")
			.set({ block: block.number, block_hash: block.hash })
			.where("day", "=", BigInt(day))
			.where("block", "is", null)
			.execute();
		const row = await tx
			.selectFrom("stake_readings")
			.select(["block", "block_hash"])
			.where("day", "=", BigInt(day))
			.executeTakeFirstOrThrow();
		return blockOf(row) ?? block;
	});
}

function blockOf(row: { readonly block: bigint | null; readonly block_hash: string | null }): StakeBlock | null {
	return row.block === null || row.block_hash === null ? null : { number: Number(row.block), hash: row.block_hash };
}

export interface Staker {
	readonly accountId: string;
	/** Lower case. */
	readonly wallet: string;
}

/** Returns accounts whose stake of a day is unread, in the order of their ids after `after`. */
export function listUnreadStakers(
	admin: AdminStore,
	input: { readonly day: number; readonly after: string; readonly limit: number },
): Promise<Staker[]> {
	return unread(admin.db, input.day)
		.select(["accounts.id as accountId", "accounts.wallet as wallet"])
		.$narrowType<{ wallet: string }>()
		.where("accounts.id", ">", input.after)
		.orderBy("accounts.id")
		.limit(input.limit)
		.execute();
}

function unread(db: AdminStore["db"], day: number) {
	return db
		.selectFrom("accounts")
		.where("accounts.wallet", "is not", null)
		.where("accounts.stake_source", "=", "chain")
		.where("accounts.chain_from_day", "<=", BigInt(day))
		.where((where) =>
			where.not(
				where.exists(
					where
						.selectFrom("diem_stakes")
						.select("diem_stakes.stake")
						.whereRef("diem_stakes.account_id", "=", "accounts.id")
						.where("diem_stakes.from_day", "=", BigInt(day))
						.where("diem_stakes.source", "=", "chain"),
				),
			),
		);
}

export interface ReadStake extends Staker {
	/** Nano-diem. */
	readonly stake: number;
}

export interface WriteStakes {
	readonly day: number;
	readonly reader: string;
	readonly termMs: number;
	readonly stakes: readonly ReadStake[];
}

/**
 * Writes the stakes that were read, and extends the node's turn. An account with another wallet meanwhile, or with
 * the operator's stake, is skipped: its wallet may count for another account.
 */
export async function writeStakes(admin: AdminStore, input: WriteStakes): Promise<void> {
	const { day, reader, termMs, stakes } = input;
	await admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		await tx
			.updateTable("stake_readings")
			.set({ reader_until: atMs + termMs })
			.where("day", "=", BigInt(day))
			.where("reader", "=", reader)
			.execute();
		const counting = await countingStakes(tx, day, stakes);
		const rows = counting.map(
			({ accountId, stake }) => ({ accountId, fromDay: day, stake: nano(stake), source: "chain" }) as const,
		);
		await insertStakes(tx, rows, atMs);
		// Nodes that have the account cached know no diem of this day yet.
		const noticedStakes = counting.filter(({ stake }) => stake >= MIN_STAKE_NANO);
		await noteChanges(
			tx,
			noticedStakes.map(({ accountId }) => ({ kind: "account", accountId }) as const),
			atMs,
		);
	});
}

/** Uses one statement for all, so that nodes far from their store write a page quickly too. */
async function countingStakes(tx: Transaction<Tables>, day: number, stakes: readonly ReadStake[]): Promise<ReadStake[]> {
	if (stakes.length === 0) return [];
	const rows = await unread(tx, day)
		.select(["accounts.id", "accounts.wallet"])
		.where(
			"accounts.id",
			"in",
			stakes.map(({ accountId }) => accountId),
		)
		.execute();
	const wallets = new Map(rows.map(({ id, wallet }) => [id, wallet]));
	return stakes.filter(({ accountId, wallet }) => wallets.get(accountId) === wallet);
}

/** Days for which readings are kept; what was paid is in the allotments. */
const KEPT_DAYS = 31;

/**
 * Ends a day's reading where no account is left to be read, and deletes old readings. Returns false where some are
 * left.
 */
export function finishStakeReading(admin: AdminStore, input: { readonly day: number }): Promise<boolean> {
	const { day } = input;
	return admin.db.transaction().execute(async (tx) => {
		if ((await unread(tx, day).select("accounts.id").limit(1).executeTakeFirst()) !== undefined) return false;
		await tx.updateTable("stake_readings").set({ finished_at: admin.wallMs() }).where("day", "=", BigInt(day)).execute();
		await forgetOld(tx, day);
		return true;
	});
}

/** Deletes only readings that a newer one of the account covers, so that no older stake of the operator reappears. */
async function forgetOld(tx: Transaction<Tables>, day: number): Promise<void> {
	const readToday = tx
		.selectFrom("diem_stakes")
		.select("account_id")
		.where("source", "=", "chain")
		.where("from_day", "=", BigInt(day));
	await tx
		.deleteFrom("diem_stakes")
		.where("source", "=", "chain")
		.where("from_day", "<", BigInt(day - KEPT_DAYS))
		.where("account_id", "in", readToday)
		.execute();
}
