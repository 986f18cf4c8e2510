import type { Selectable } from "kysely";
import type { Tables } from "../../tables.ts";

/** A voice that a caller brought. */
export interface StoredVoice {
	/** The handle, `vv_...`. */
	readonly id: string;
	/** An account's id, or a wallet's name. */
	readonly owner: string;
	readonly modelId: string;
	/** Container of the sample: mp3, wav, flac or mp4. */
	readonly sampleFormat: string;
	readonly sampleBytes: number;
	/** Each use extends the expiry by this much; 0: the expiry is fixed. */
	readonly slidingMs: number;
	readonly createdAtMs: number;
	readonly expiresAtMs: number;
}

export function voiceOf(row: Selectable<Tables["voices"]>): StoredVoice {
	return {
		id: row.id,
		owner: row.owner,
		modelId: row.model_id,
		sampleFormat: row.sample_format,
		sampleBytes: Number(row.sample_bytes),
		slidingMs: Number(row.sliding_ms),
		createdAtMs: Number(row.created_at),
		expiresAtMs: Number(row.expires_at),
	};
}
