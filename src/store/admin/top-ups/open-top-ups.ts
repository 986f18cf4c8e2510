/** Payments on their way: who is at them, what is known of them. Each function is one transaction. */
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
	/** As the row has it. */
	readonly validBefore: number;
	readonly proof: string;
	readonly fromBlock: number;
	/** What the payer has now, base units; left out where the chain has taken the payment already. */
	readonly payerUnits?: number;
	/** Names the node. */
	readonly settler: string;
	/** How long the node may be silent before another one takes over, milliseconds. */
	readonly termMs: number;
}

/** `mine`: the caller is at it from now on. */
export interface TopUpTurn {
	readonly topUp: TopUp;
	readonly mine: boolean;
	/** True where this call made the row. */
	readonly begun: boolean;
}

/**
 * Writes a payment down before anything is sent for it. Where it stands already it is taken as `takeTopUp` does. Throws
 * `AdminError` (CONFLICT) where open payments of the same payer may take the tokens that it needs: sent together they
 * would be mined one by one, and refused by the token at the cost of whoever sent them.
 */
export function beginTopUp(admin: AdminStore, input: BeginTopUp): Promise<TopUpTurn> {
	const { payTo, validBefore, fromBlock, termMs, payerUnits, ...row } = input;
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		const found = await findRow(tx, input);
		if (found !== null) return { ...(await take(tx, found, input, atMs)), begun: false };
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

/** Base units that open payments of a payer may still take from it. */
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

/** Takes an open payment for a node: not where another one is at it. */
export function takeTopUp(admin: AdminStore, input: Taker & { readonly id: string }): Promise<TopUpTurn> {
	return admin.db.transaction().execute(async (tx) => {
		const found = await requireRow(tx, input.id);
		return { ...(await take(tx, found, input, admin.wallMs())), begun: false };
	});
}

async function take(
	tx: AdminStore["db"],
	found: TopUp,
	{ settler, termMs }: Taker,
	atMs: number,
): Promise<{ topUp: TopUp; mine: boolean }> {
	const held = found.state === "settling" && found.settlerUntilMs > atMs && found.settler !== settler;
	if (!isOpen(found) || held) return { topUp: found, mine: false };
	await tx
		.updateTable("top_ups")
		.set({ state: "settling", settler, settler_until: atMs + termMs, look_at: atMs + termMs })
		.where("id", "=", found.id)
		.execute();
	return { topUp: await requireRow(tx, found.id), mine: true };
}

export interface NoteTopUp {
	readonly id: string;
	readonly settler: string;
	/** `unknown`: the node has let go of it. */
	readonly state: "settling" | "unknown";
	/** Left out: as before. */
	readonly transaction?: string | null;
	readonly fromBlock?: number;
	/** When it is looked at again, milliseconds from now; left out: as before. */
	readonly lookInMs?: number;
}

/** Notes what a node learned of an open payment. Nothing changes where it has ended, or another node is at it. */
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

/** Ends a payment by which no token comes any more. Returns it as it stands: a credited one stays credited. */
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

/** null where it was never begun. */
export function findTopUp(admin: AdminStore, key: TopUpKey): Promise<TopUp | null> {
	return findRow(admin.db, key);
}

/**
 * Open payments that are to be looked at now, the longest waiting first. With `settler`: all that this node was at,
 * when it starts again.
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

/** All payments in the order of their ids behind `after`. */
export async function listTopUps(admin: AdminStore, input: { readonly after: string; readonly limit: number }): Promise<TopUp[]> {
	const rows = await topUpRows(admin.db).where("top_ups.id", ">", input.after).orderBy("top_ups.id").limit(input.limit).execute();
	return rows.map(topUpOf);
}
