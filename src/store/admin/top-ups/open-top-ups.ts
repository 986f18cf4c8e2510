/** Open payments: which node settles them, and what is known of them. Each function is one transaction. */
import { AdminError } from "../errors.ts";
import type { AdminStore } from "../open-admin.ts";
import { findRow, isOpen, requireRow, type TopUp, type TopUpKey, topUpOf, topUpRows } from "./top-up-row.ts";

export interface BeginTopUp extends TopUpKey {
	readonly id: string;
	readonly payTo: string;
	/** Base units of the token. */
	readonly units: number;
	/** Nano-USD. */
	readonly amount: number;
	/** As in the row. */
	readonly validBefore: number;
	readonly proof: string;
	readonly fromBlock: number;
	/** The payer's current balance in base units; left out where the chain has accepted the payment already. */
	readonly payerUnits?: number;
	/** Id of the node. */
	readonly settler: string;
	/** How long the node may be silent before another one takes over, in milliseconds. */
	readonly termMs: number;
}

/** `mine`: the caller settles the payment from now on. */
export interface TopUpTurn {
	readonly topUp: TopUp;
	readonly mine: boolean;
	/** True where this call created the row. */
	readonly begun: boolean;
}

/**
 * Writes a payment before anything is sent for it. Where it exists already, takes it as `takeTopUp` does. Throws
 * `AdminError` (CONFLICT) where open payments of the same payer may use the tokens that it needs: sent together they
 * would be mined one by one, and the token would refuse some at the sender's cost.
 */
export function beginTopUp(admin: AdminStore, input: BeginTopUp): Promise<TopUpTurn> {
	const { payTo, validBefore, fromBlock, termMs, payerUnits, ...row } = input;
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		const topUp = await findRow(tx, input);
		if (topUp !== null) return { ...(await take(tx, topUp, input, atMs)), begun: false };
		const open = payerUnits === undefined ? 0 : await openUnits(tx, input);
		if (payerUnits !== undefined && open > 0 && open + input.units > payerUnits)
			throw new AdminError("CONFLICT", "other payments of this wallet are under way, and may need its tokens");
		await tx
			.insertInto("top_ups")
			.values({
				...row,
				pay_to: payTo,
				valid_before: validBefore,
				state: "settling",
				settler_until: atMs + termMs,
				from_block: fromBlock,
				look_at: atMs + termMs,
				transaction_hash: null,
				log_index: null,
				block: null,
				reason: null,
				account_id: null,
				movement_id: null,
				created_at: atMs,
				ended_at: null,
			})
			.execute();
		return { topUp: await requireRow(tx, input.id), mine: true, begun: true };
	});
}

/** Returns the base units that open payments of a payer may still take. */
async function openUnits(tx: AdminStore["db"], { network, asset, payer }: TopUpKey): Promise<number> {
	const { units } = await tx
		.selectFrom("top_ups")
		.select((row) => row.fn.sum<bigint | number | string | null>("units").as("units"))
		.where("network", "=", network)
		.where("asset", "=", asset)
		.where("payer", "=", payer)
		.where("state", "in", ["settling", "unknown"])
		.executeTakeFirstOrThrow();
	return Number(units ?? 0);
}

interface Taker {
	readonly settler: string;
	readonly termMs: number;
}

/** Takes an open payment for a node, unless another node settles it. */
export function takeTopUp(admin: AdminStore, input: Taker & { readonly id: string }): Promise<TopUpTurn> {
	return admin.db.transaction().execute(async (tx) => {
		const topUp = await requireRow(tx, input.id);
		return { ...(await take(tx, topUp, input, admin.wallMs())), begun: false };
	});
}

async function take(
	tx: AdminStore["db"],
	topUp: TopUp,
	{ settler, termMs }: Taker,
	atMs: number,
): Promise<{ topUp: TopUp; mine: boolean }> {
	const isHeldElsewhere = topUp.state === "settling" && topUp.settlerUntilMs > atMs && topUp.settler !== settler;
	if (!isOpen(topUp) || isHeldElsewhere) return { topUp: topUp, mine: false };
	await tx
		.updateTable("top_ups")
		.set({ state: "settling", settler, settler_until: atMs + termMs, look_at: atMs + termMs })
		.where("id", "=", topUp.id)
		.execute();
	return { topUp: await requireRow(tx, topUp.id), mine: true };
}

export interface NoteTopUp {
	readonly id: string;
	readonly settler: string;
	/** `unknown`: the node has released it. */
	readonly state: "settling" | "unknown";
	/** Left out: unchanged. */
	readonly transaction?: string | null;
	readonly fromBlock?: number;
	/** Milliseconds until the next check; left out: unchanged. */
	readonly lookInMs?: number;
}

/** Records what a node learned of an open payment. Changes nothing where it has ended, or another node settles it. */
export async function noteTopUp(admin: AdminStore, input: NoteTopUp): Promise<void> {
	const { id, settler, state, transaction, fromBlock, lookInMs } = input;
	await admin.db.transaction().execute((tx) =>
		tx
			.updateTable("top_ups")
			.set({
				state,
				...(transaction === undefined ? {} : { transaction_hash: transaction }),
				...(fromBlock === undefined ? {} : { from_block: fromBlock }),
				...(lookInMs === undefined ? {} : { look_at: admin.wallMs() + lookInMs }),
			})
			.where("id", "=", id)
			.where("settler", "=", settler)
			.where("state", "in", ["settling", "unknown"])
			.execute(),
	);
}

/** Ends a payment that can move no token any more. Returns the current row: a credited one stays credited. */
export function failTopUp(admin: AdminStore, input: { readonly id: string; readonly reason: string }): Promise<TopUp> {
	return admin.db.transaction().execute(async (tx) => {
		await tx
			.updateTable("top_ups")
			.set({ state: "failed", reason: input.reason, ended_at: admin.wallMs() })
			.where("id", "=", input.id)
			.where("state", "in", ["settling", "unknown"])
			.execute();
		return requireRow(tx, input.id);
	});
}

/** Returns null where it was never begun. */
export function findTopUp(admin: AdminStore, key: TopUpKey): Promise<TopUp | null> {
	return findRow(admin.db, key);
}

/**
 * Returns open payments that are due, the longest waiting first. With `settler`: all payments of this node, when it
 * starts again.
 */
export async function listDueTopUps(
	admin: AdminStore,
	{ limit, settler }: { readonly limit: number; readonly settler?: string },
): Promise<TopUp[]> {
	let open = topUpRows(admin.db).where("state", "in", ["settling", "unknown"]);
	open = settler === undefined ? open.where("look_at", "<=", BigInt(admin.wallMs())) : open.where("settler", "=", settler);
	const rows = await open.orderBy("look_at").limit(limit).execute();
	return rows.map(topUpOf);
}

/** Returns all payments in the order of their ids after `after`. */
export async function listTopUps(admin: AdminStore, input: { readonly after: string; readonly limit: number }): Promise<TopUp[]> {
	const rows = await topUpRows(admin.db).where("top_ups.id", ">", input.after).orderBy("top_ups.id").limit(input.limit).execute();
	return rows.map(topUpOf);
}
