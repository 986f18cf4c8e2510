/** Changes of an existing voice: it is used, deleted, or expires. */
import { sql, type Transaction } from "kysely";
import type { Tables } from "../../tables.ts";
import type { AdminStore } from "../open-admin.ts";
import type { VoiceQuery } from "./read-voice.ts";

/** Records a use, which extends a voice with a sliding expiry. Other voices do not change. */
export async function touchVoice(
	admin: AdminStore,
	{ id, nowMs }: { readonly id: string; readonly nowMs: number },
): Promise<void> {
	await admin.db.transaction().execute((tx) =>
		tx
			.updateTable("voices")
			.set({ expires_at: sql`${nowMs} + sliding_ms` })
			.where("id", "=", id)
			.where("sliding_ms", ">", 0n)
			.where("expires_at", ">", BigInt(nowMs))
			.execute(),
	);
}

/** Deletes a voice and its sample. Returns false where the caller has no such voice. */
export function deleteVoice(admin: AdminStore, { id, owner, nowMs }: VoiceQuery): Promise<boolean> {
	return admin.db.transaction().execute(async (tx) => {
		const gone = await tx
			.deleteFrom("voices")
			.where("id", "=", id)
			.where("owner", "=", owner)
			.where("expires_at", ">", BigInt(nowMs))
			.returning("id")
			.executeTakeFirst();
		if (gone === undefined) return false;
		await tx.deleteFrom("voice_sample_parts").where("voice_id", "=", id).execute();
		return true;
	});
}

/** Deletes all voices of an owner with their samples, in the transaction that erases an account. */
export async function deleteVoicesOf(tx: Transaction<Tables>, owners: readonly string[]): Promise<void> {
	const gone = await tx
		.deleteFrom("voices")
		.where("owner", "in", [...owners])
		.returning("id")
		.execute();
	for (const { id } of gone) await tx.deleteFrom("voice_sample_parts").where("voice_id", "=", id).execute();
}

/** Parts older than any upload whose voice never came. */
const STRAY_MS = 3_600_000;

/** Removes expired voices with their samples, and parts that a crash left; at most `rows` voices per call. */
export function pruneVoices(
	admin: AdminStore,
	{ nowMs, rows }: { readonly nowMs: number; readonly rows: number },
): Promise<{ readonly more: boolean }> {
	return admin.db.transaction().execute(async (tx) => {
		const expired = await tx
			.selectFrom("voices")
			.select("id")
			.where("expires_at", "<=", BigInt(nowMs))
			.orderBy("expires_at")
			.limit(rows)
			.execute();
		for (const { id } of expired) {
			// A voice that was used between the two statements of another node's transaction stays.
			const gone = await tx
				.deleteFrom("voices")
				.where("id", "=", id)
				.where("expires_at", "<=", BigInt(nowMs))
				.returning("id")
				.executeTakeFirst();
			if (gone !== undefined) await tx.deleteFrom("voice_sample_parts").where("voice_id", "=", id).execute();
		}
		const strays = await sql<{ gone: unknown }>`DELETE FROM voice_sample_parts WHERE (voice_id, part) IN (
			SELECT voice_id, part FROM voice_sample_parts AS parts WHERE stored_at < ${nowMs - STRAY_MS}
				AND NOT EXISTS (SELECT 1 FROM voices WHERE voices.id = parts.voice_id)
			ORDER BY stored_at LIMIT ${rows}) RETURNING 1 AS gone`.execute(tx);
		return { more: expired.length >= rows || strays.rows.length >= rows };
	});
}
