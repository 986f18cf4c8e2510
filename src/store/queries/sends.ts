/** Reads the audit of sends: what was sent to a chain, by hashes. */
import { type Selectable, sql } from "kysely";
import type { AdminStore } from "../admin/open-admin.ts";
import type { Tables } from "../tables.ts";

export interface SendsQuery {
	/** Raw or transaction hash, in any case of its letters. */
	readonly hash?: string;
	readonly network?: string;
	readonly keyId?: string;
	readonly sinceMs?: number;
	readonly limit: number;
}

export interface SendView {
	readonly requestId: string;
	readonly item: number;
	readonly accountId: string;
	readonly keyId: string | null;
	readonly network: string;
	readonly method: string;
	readonly rawHash: string | null;
	readonly txHash: string | null;
	readonly sentAtMs: number;
	/** null: the outcome is unknown, or the send is running. */
	readonly outcome: string | null;
	readonly endedAtMs: number | null;
}

/** The last send of a page: the next page begins behind it. */
export interface SendPlace {
	readonly sentAtMs: number;
	readonly id: number;
}

/** Returns sends, newest first. A hash is found by its index, however many there are. */
export async function listSends(admin: AdminStore, question: SendsQuery): Promise<SendView[]> {
	return (await sendRows(admin, question, null)).map(viewOf);
}

/** Returns the same in pages, with the position of each send. */
export async function listSendPage(
	admin: AdminStore,
	question: SendsQuery & { readonly after: SendPlace | null },
): Promise<(SendView & { readonly place: SendPlace })[]> {
	const rows = await sendRows(admin, question, question.after);
	return rows.map((row) => ({ ...viewOf(row), place: { sentAtMs: Number(row.sent_at), id: Number(row.id) } }));
}

type SendRow = Selectable<Tables["rpc_sends"]>;

function sendRows(admin: AdminStore, question: SendsQuery, after: SendPlace | null): Promise<SendRow[]> {
	const { hash, network, keyId, sinceMs, limit } = question;
	let query = admin.db.selectFrom("rpc_sends").selectAll();
	if (hash !== undefined) {
		const text = hash.toLowerCase();
		query = query.where((is) => is.or([is("raw_hash", "=", text), is("tx_hash", "=", text)]));
	}
	if (network !== undefined) query = query.where("network", "=", network);
	if (keyId !== undefined) query = query.where("key_id", "=", keyId);
	if (sinceMs !== undefined) query = query.where("sent_at", ">=", BigInt(sinceMs));
	if (after !== null) query = query.where(sql<boolean>`(sent_at, id) < (${BigInt(after.sentAtMs)}, ${BigInt(after.id)})`);
	return query.orderBy("sent_at", "desc").orderBy("id", "desc").limit(limit).execute();
}

function viewOf(row: SendRow): SendView {
	return {
		requestId: row.request_id,
		item: Number(row.item),
		accountId: row.account_id,
		keyId: row.key_id,
		network: row.network,
		method: row.method,
		rawHash: row.raw_hash,
		txHash: row.tx_hash,
		sentAtMs: Number(row.sent_at),
		outcome: row.outcome,
		endedAtMs: row.ended_at === null ? null : Number(row.ended_at),
	};
}
