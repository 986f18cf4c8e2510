import { sql } from "kysely";
import type { AdminStore } from "../admin/open-admin.ts";
import type { TopUpState } from "../tables.ts";
import { contains } from "./contains.ts";

/** The last top-up of a page: the next page begins behind it. */
export interface TopUpPlace {
	readonly createdAtMs: number;
	readonly id: string;
}

export interface TopUpPageQuery {
	readonly state?: TopUpState;
	/** A part of the payer's address. */
	readonly payer?: string;
	readonly after: TopUpPlace | null;
	readonly limit: number;
}

/** A payment as the operator sees it, without the signed data. */
export interface TopUpEntry {
	readonly id: string;
	readonly state: TopUpState;
	readonly network: string;
	readonly payer: string;
	/** In nano-USD. */
	readonly amount: number;
	readonly transaction: string | null;
	readonly reason: string | null;
	readonly accountId: string | null;
	readonly createdAtMs: number;
	readonly endedAtMs: number | null;
}

/** Returns top-ups, newest first, at the cost of the page; with a payer it may scan all. */
export async function listTopUpPage(admin: AdminStore, { state, payer, after, limit }: TopUpPageQuery): Promise<TopUpEntry[]> {
	let page = admin.db.selectFrom("top_ups").selectAll();
	if (state !== undefined) page = page.where("state", "=", state);
	if (payer !== undefined) page = page.where(contains(["payer"], payer));
	if (after !== null) page = page.where(sql<boolean>`(created_at, id) < (${BigInt(after.createdAtMs)}, ${after.id})`);
	const rows = await page.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
	return rows.map((row) => ({
		id: row.id,
		state: row.state,
		network: row.network,
		payer: row.payer,
		amount: Number(row.amount),
		transaction: row.transaction_hash,
		reason: row.reason,
		accountId: row.account_id,
		createdAtMs: Number(row.created_at),
		endedAtMs: row.ended_at === null ? null : Number(row.ended_at),
	}));
}
