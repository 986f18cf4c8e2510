/**
 * The voices that upstreams keep for ours. One node at a time makes one: whoever has the claim; a claim that is over may be
 * taken by another. What is left when its voice is gone has to be taken back from the upstream.
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
	/** To be made by the one who asks. */
	| { readonly state: "mine" }
	/** Another makes it. */
	| { readonly state: "busy" }
	/** The voice itself is no more. */
	| { readonly state: "gone" };

/** The upstream's voice, or the right to make it. */
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

/** Keeps what was made under a claim. False where the claim was lost: then it has to be taken back. */
export async function keepUpstreamVoice(
	admin: AdminStore,
	{ voiceId, upstream, claim, name }: UpstreamVoiceKey & { readonly claim: string; readonly name: string },
): Promise<boolean> {
	const kept = await admin.db
		.updateTable("upstream_voices")
		.set({ name, claimed_until: 0 })
		.where("voice_id", "=", voiceId)
		.where("upstream", "=", upstream)
		.where("claim", "=", claim)
		.returning("voice_id")
		.executeTakeFirst();
	return kept !== undefined;
}

/** Ends a claim whose voice was not made, or was taken back. */
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

/** Forgets one that the upstream does not know any more; false where another did before. */
export async function forgetUpstreamVoice(
	admin: AdminStore,
	{ voiceId, upstream, name }: UpstreamVoiceKey & { readonly name: string },
): Promise<boolean> {
	const gone = await admin.db
		.deleteFrom("upstream_voices")
		.where("voice_id", "=", voiceId)
		.where("upstream", "=", upstream)
		.where("name", "=", name)
		.returning("voice_id")
		.executeTakeFirst();
	return gone !== undefined;
}

/**
 * Takes some that were left by voices that are gone, to take them back from their upstreams; each is taken by one node.
 * Those that were never made are removed.
 */
export function claimOrphanedVoices(
	admin: AdminStore,
	{ claim, nowMs, untilMs, rows }: Claim & { readonly rows: number },
): Promise<(UpstreamVoiceKey & { readonly name: string })[]> {
	return admin.db.transaction().execute(async (tx) => {
		const left = await tx
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
		for (const { voice_id: voiceId, upstream, name } of left) {
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
