/** Deletes expired records of the chain proxy, a bounded number of rows per call. */
import { sql, type Transaction } from "kysely";
import { CREDIT_BUCKET_MS } from "../core/rpc-records.ts";
import type { Tables } from "../tables.ts";
import type { AdminStore } from "./open-admin.ts";

export interface PruneRpcOptions {
	readonly nowMs: number;
	/** Sends before this time leave the audit. */
	readonly sendsBeforeMs: number;
	/** Most rows of each table per call. */
	readonly rows: number;
}

export interface PrunedRpc {
	/** True where more rows may be due. */
	readonly more: boolean;
	/** Files of DATA/idempotency that nothing names any more. Empty where nodes share the store. */
	readonly files: readonly string[];
}

const HOUR_MS = 3_600_000;
/** A clock that was set back still finds the credits of two days. */
const CREDITS_MS = 48 * HOUR_MS;
/** Longer than an answer lives, so that older bodies belong to none: their answer expired, or its post never came. */
const BODIES_MS = 26 * HOUR_MS;

/** Prunes rows. May be repeated after a failure; files that a repeat does not return are found at the next start. */
export async function pruneRpc(admin: AdminStore, order: PruneRpcOptions): Promise<PrunedRpc> {
	const { nowMs, sendsBeforeMs, rows } = order;
	return admin.db.transaction().execute(async (tx) => {
		const answers = await expiredAnswers(tx, nowMs, rows);
		const counts = [
			answers.length,
			await gone(
				tx,
				sql`DELETE FROM rpc_sends WHERE id IN (SELECT id FROM rpc_sends WHERE sent_at < ${sendsBeforeMs}
				ORDER BY sent_at LIMIT ${rows}) RETURNING 1 AS gone`,
			),
			await gone(
				tx,
				sql`DELETE FROM rpc_credits WHERE (account_id, bucket) IN (SELECT account_id, bucket FROM rpc_credits
				WHERE bucket < ${Math.floor((nowMs - CREDITS_MS) / CREDIT_BUCKET_MS)} LIMIT ${rows}) RETURNING 1 AS gone`,
			),
		];
		if (admin.shared) {
			counts.push(
				await gone(
					tx,
					sql`DELETE FROM idempotency_bodies WHERE (file, part) IN (SELECT file, part FROM idempotency_bodies
					WHERE shipped_at < ${nowMs - BODIES_MS} ORDER BY shipped_at LIMIT ${rows}) RETURNING 1 AS gone`,
				),
			);
		}
		const files = admin.shared ? [] : answers.flatMap(({ file }) => (file === null ? [] : [file]));
		return { more: counts.some((count) => count >= rows), files };
	});
}

/** Returns the names that an answer uses; the others are left over from a crash. */
export async function keptAnswerFiles(admin: AdminStore, input: { readonly names: readonly string[] }): Promise<string[]> {
	if (input.names.length === 0) return [];
	const rows = await admin.db
		.selectFrom("idempotency_answers")
		.select("file")
		.where("file", "in", [...input.names])
		.execute();
	return rows.flatMap(({ file }) => (file === null ? [] : [file]));
}

/** Returns expired answers. An answer that meanwhile replaced an expired one stays. */
async function expiredAnswers(tx: Transaction<Tables>, nowMs: number, rows: number): Promise<{ file: string | null }[]> {
	const result = await sql<{ file: string | null }>`DELETE FROM idempotency_answers WHERE expires_at <= ${nowMs}
		AND (account_id, key) IN (SELECT account_id, key FROM idempotency_answers WHERE expires_at <= ${nowMs}
			ORDER BY expires_at LIMIT ${rows}) RETURNING file`.execute(tx);
	return result.rows;
}

async function gone(tx: Transaction<Tables>, statement: ReturnType<typeof sql>): Promise<number> {
	return (await statement.execute(tx)).rows.length;
}
