/**
 * The voices that upstreams keep for ours. One node at a time creates one: the holder of the claim; another may take
 * an expired claim. What remains when its voice is gone must be deleted at the upstream.
 */
import { sql } from "kysely";
import type { AdminStore } from "../open-admin.ts";

export interface UpstreamVoiceKey {
	readonly voiceId: string;
	readonly upstream: string;
}

interface Claim {
	readonly claim: string;
	readonly nowMs: number;
	/** Unix milliseconds at which others may take it over. */
	readonly untilMs: number;
}

export type UpstreamVoiceState =
	| { readonly state: "there"; readonly name: string }
	/** The caller must create it. */
	| { readonly state: "mine" }
	/** Another node creates it. */
	| { readonly state: "busy" }
	/** The voice itself no longer exists. */
	| { readonly state: "gone" };

/** Returns the upstream's voice, or the right to create it. */
export function claimUpstreamVoice(
	admin: AdminStore,
	{ voiceId, upstream, claim, nowMs, untilMs }: UpstreamVoiceKey & Claim,
): Promise<UpstreamVoiceState> {
	return admin.db.transaction().execute(async (tx) => {
		const voice = await tx
			.selectFrom("voices")
			.select("id")
			.where("id", "=", voiceId)
			.where("expires_at", ">", BigInt(nowMs))
			.executeTakeFirst();
		if (voice === undefined) return { state: "gone" };
		const taken = await tx
			.insertInto("upstream_voices")
			.values({ voice_id: voiceId, upstream, name: null, claim, claimed_until: untilMs })
			.onConflict((conflict) =>
				conflict
					.columns(["voice_id", "upstream"])
					.doUpdateSet({ claim, claimed_until: untilMs })
					.where("upstream_voices.name", "is", null)
					.where("upstream_voices.claimed_until", "<=", BigInt(nowMs)),
			)
			.returning("voice_id")
			.executeTakeFirst();
		if (taken !== undefined) return { state: "mine" };
		const row = await tx
			.selectFrom("upstream_voices")
			.select("name")
			.where("voice_id", "=", voiceId)
			.where("upstream", "=", upstream)
			.executeTakeFirst();
		const name = row?.name ?? null;
		return name === null ? { state: "busy" } : { state: "there", name };
	});
}

/**
 * Stores what was created under a claim. Returns false where the claim was lost: then it must be deleted at the
 * upstream.
 */
export async function keepUpstreamVoice(
	admin: AdminStore,
	{ voiceId, upstream, claim, name }: UpstreamVoiceKey & { readonly claim: string; readonly name: string },
): Promise<boolean> {
	const updatedRow = await admin.db
		.updateTable("upstream_voices")
		.set({ name, claimed_until: 0 })
		.where("voice_id", "=", voiceId)
		.where("upstream", "=", upstream)
		.where("claim", "=", claim)
		.returning("voice_id")
		.executeTakeFirst();
	return updatedRow !== undefined;
}

/** Ends a claim whose voice was not created, or was deleted again. */
export async function dropUpstreamVoice(
	admin: AdminStore,
	{ voiceId, upstream, claim }: UpstreamVoiceKey & { readonly claim: string },
): Promise<void> {
	await admin.db
		.deleteFrom("upstream_voices")
		.where("voice_id", "=", voiceId)
		.where("upstream", "=", upstream)
		.where("claim", "=", claim)
		.execute();
}

/** Forgets a voice that the upstream no longer knows; false where another node did so before. */
export async function forgetUpstreamVoice(
	admin: AdminStore,
	{ voiceId, upstream, name }: UpstreamVoiceKey & { readonly name: string },
): Promise<boolean> {
	const deletedRow = await admin.db
		.deleteFrom("upstream_voices")
		.where("voice_id", "=", voiceId)
		.where("upstream", "=", upstream)
		.where("name", "=", name)
		.returning("voice_id")
		.executeTakeFirst();
	return deletedRow !== undefined;
}

/**
 * Takes some upstream voices whose own voices are gone, to delete them at their upstreams; one node takes each. Those
 * that were never created are removed.
 */
export function claimOrphanedVoices(
	admin: AdminStore,
	{ claim, nowMs, untilMs, rows }: Claim & { readonly rows: number },
): Promise<(UpstreamVoiceKey & { readonly name: string })[]> {
	return admin.db.transaction().execute(async (tx) => {
		const orphanRows = await tx
			.selectFrom("upstream_voices")
			.select(["voice_id", "upstream", "name"])
			.where("claimed_until", "<=", BigInt(nowMs))
			.where(({ not, exists, selectFrom }) =>
				not(exists(selectFrom("voices").select(sql`1`.as("one")).whereRef("voices.id", "=", "upstream_voices.voice_id"))),
			)
			.orderBy("claimed_until")
			.limit(rows)
			.execute();
		const taken: (UpstreamVoiceKey & { readonly name: string })[] = [];
		for (const { voice_id: voiceId, upstream, name } of orphanRows) {
			if (name === null) {
				await tx.deleteFrom("upstream_voices").where("voice_id", "=", voiceId).where("upstream", "=", upstream).execute();
				continue;
			}
			const mine = await tx
				.updateTable("upstream_voices")
				.set({ claim, claimed_until: untilMs })
				.where("voice_id", "=", voiceId)
				.where("upstream", "=", upstream)
				.where("claimed_until", "<=", BigInt(nowMs))
				.returning("voice_id")
				.executeTakeFirst();
			if (mine !== undefined) taken.push({ voiceId, upstream, name });
		}
		return taken;
	});
}
