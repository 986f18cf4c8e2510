/** Reads voices and their samples. Nobody sees what another owner has. */
import type { AdminStore } from "../open-admin.ts";
import { type StoredVoice, voiceOf } from "./voice-row.ts";

export interface VoiceQuery {
	readonly id: string;
	readonly owner: string;
	readonly nowMs: number;
}

/** Returns the voice; null where there is none, it has expired, or another owner has it. */
export async function findVoice(admin: AdminStore, { id, owner, nowMs }: VoiceQuery): Promise<StoredVoice | null> {
	const row = await admin.db
		.selectFrom("voices")
		.selectAll()
		.where("id", "=", id)
		.where("owner", "=", owner)
		.where("expires_at", ">", BigInt(nowMs))
		.executeTakeFirst();
	return row === undefined ? null : voiceOf(row);
}

/** Returns live voices, newest first. */
export async function listVoices(
	admin: AdminStore,
	{ owner, nowMs }: Pick<VoiceQuery, "owner" | "nowMs">,
): Promise<StoredVoice[]> {
	const rows = await admin.db
		.selectFrom("voices")
		.selectAll()
		.where("owner", "=", owner)
		.where("expires_at", ">", BigInt(nowMs))
		.orderBy("created_at", "desc")
		.orderBy("id", "desc")
		.execute();
	return rows.map(voiceOf);
}

/** Returns one part of a sample; null past its end. */
export async function readVoicePart(
	admin: AdminStore,
	{ voiceId, part }: { readonly voiceId: string; readonly part: number },
): Promise<Uint8Array | null> {
	const row = await admin.db
		.selectFrom("voice_sample_parts")
		.select("body")
		.where("voice_id", "=", voiceId)
		.where("part", "=", BigInt(part))
		.executeTakeFirst();
	return row?.body ?? null;
}
