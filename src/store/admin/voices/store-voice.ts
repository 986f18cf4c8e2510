/** Writes a voice: first its sample, one part per call, then the voice itself, which makes it visible. */
import { AdminError } from "../errors.ts";
import type { AdminStore } from "../open-admin.ts";
import type { StoredVoice } from "./voice-row.ts";

/** Bytes of a part: few enough for one statement. */
export const VOICE_PART_BYTES = 1 << 20;

/** Stores a part. May be repeated: an existing part stays. */
export async function storeVoicePart(
	admin: AdminStore,
	input: { readonly voiceId: string; readonly part: number; readonly body: Uint8Array; readonly nowMs: number },
): Promise<void> {
	const { voiceId, part, body, nowMs } = input;
	await admin.db.transaction().execute((tx) =>
		tx
			.insertInto("voice_sample_parts")
			.values({ voice_id: voiceId, part, body, stored_at: nowMs })
			.onConflict((conflict) => conflict.doNothing())
			.execute(),
	);
}

/**
 * Makes the voice visible for its lifetime. May be repeated.
 * @throws AdminError CONFLICT where the owner has `atMost` live voices already
 */
export function createVoice(
	admin: AdminStore,
	input: { readonly voice: StoredVoice; readonly atMost: number; readonly nowMs: number },
): Promise<void> {
	const { voice, atMost, nowMs } = input;
	return admin.db.transaction().execute(async (tx) => {
		const others = await tx
			.selectFrom("voices")
			.select((select) => select.fn.countAll<bigint>().as("count"))
			.where("owner", "=", voice.owner)
			.where("expires_at", ">", BigInt(nowMs))
			.where("id", "<>", voice.id)
			.executeTakeFirstOrThrow();
		if (Number(others.count) >= atMost) throw new AdminError("CONFLICT", `there are ${atMost} voices already`);
		await tx
			.insertInto("voices")
			.values({
				id: voice.id,
				owner: voice.owner,
				model_id: voice.modelId,
				sample_format: voice.sampleFormat,
				sample_bytes: voice.sampleBytes,
				sliding_ms: voice.slidingMs,
				created_at: voice.createdAtMs,
				expires_at: voice.expiresAtMs,
			})
			.onConflict((conflict) => conflict.doNothing())
			.execute();
	});
}
