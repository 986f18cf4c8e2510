import { randomBytes } from "node:crypto";
import type { Caller } from "../../budgets/port.ts";
import type { VoiceCloning } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";
import { VOICE_PART_BYTES } from "../../store/admin/voices/store-voice.ts";
import type { StoredVoice } from "../../store/admin/voices/voice-row.ts";
import { AdminError } from "../../store/admin.ts";
import type { StorePort } from "../../store/port.ts";
import type { Clock } from "../../telemetry/clock.ts";

export type { StoredVoice } from "../../store/admin/voices/voice-row.ts";

const DAY_MS = 86_400_000;

export interface NewVoice {
	readonly modelId: string;
	readonly cloning: VoiceCloning;
	/** The sample's container: mp3, wav, flac or mp4. */
	readonly format: string;
	readonly sample: Uint8Array;
}

/** The voices of callers. A voice of another owner looks like one that does not exist. */
export class VoiceService {
	readonly #store: Pick<StorePort, "admin">;
	readonly #clock: Pick<Clock, "wallMs">;

	constructor(store: Pick<StorePort, "admin">, clock: Pick<Clock, "wallMs">) {
		this.#store = store;
		this.#clock = clock;
	}

	/**
	 * Stores a sample and creates its handle.
	 * @throws {ApiError} INVALID_REQUEST if the caller already has `atMost` voices
	 */
	async create(caller: Caller, { modelId, cloning, format, sample }: NewVoice, atMost: number): Promise<StoredVoice> {
		const nowMs = this.#clock.wallMs();
		const lifeMs = cloning.days * DAY_MS;
		const voice: StoredVoice = {
			id: `vv_${randomBytes(15).toString("base64url")}`,
			owner: ownerOf(caller),
			modelId,
			sampleFormat: format,
			sampleBytes: sample.length,
			slidingMs: cloning.mode === "persistent" ? lifeMs : 0,
			createdAtMs: nowMs,
			expiresAtMs: nowMs + lifeMs,
		};
		for (let part = 0; part * VOICE_PART_BYTES < sample.length; part++) {
			const body = sample.slice(part * VOICE_PART_BYTES, (part + 1) * VOICE_PART_BYTES);
			await this.#store.admin("storeVoicePart", { voiceId: voice.id, part, body, nowMs });
		}
		try {
			await this.#store.admin("createVoice", { voice, atMost, nowMs });
		} catch (error) {
			if (!(error instanceof AdminError) || error.code !== "CONFLICT") throw error;
			throw new ApiError("INVALID_REQUEST", {
				message: `You have ${atMost} voices already: delete one, or wait for one to expire`,
			});
		}
		return voice;
	}

	/** Lists the caller's live voices, newest first. */
	list(caller: Caller): Promise<readonly StoredVoice[]> {
		return this.#store.admin("listVoices", { owner: ownerOf(caller), nowMs: this.#clock.wallMs() });
	}

	/** Returns a voice; null if it is expired, unknown or another caller's. */
	find(caller: Caller, id: string): Promise<StoredVoice | null> {
		return this.#store.admin("findVoice", { id, owner: ownerOf(caller), nowMs: this.#clock.wallMs() });
	}

	/**
	 * Deletes a voice.
	 * @throws {ApiError} NOT_FOUND
	 */
	async delete(caller: Caller, id: string): Promise<void> {
		const deleted = await this.#store.admin("deleteVoice", { id, owner: ownerOf(caller), nowMs: this.#clock.wallMs() });
		if (!deleted) throw new ApiError("NOT_FOUND", { message: "You have no such voice" });
	}

	/** Records a use, which restarts the lifetime of a voice with sliding expiry. */
	async touch(voice: StoredVoice): Promise<void> {
		if (voice.slidingMs > 0) await this.#store.admin("touchVoice", { id: voice.id, nowMs: this.#clock.wallMs() });
	}

	/** Returns the sample; null if the voice was deleted meanwhile. */
	async sample(voice: StoredVoice): Promise<Uint8Array | null> {
		const parts: Uint8Array[] = [];
		for (let part = 0; part * VOICE_PART_BYTES < voice.sampleBytes; part++) {
			const bytes = await this.#store.admin("readVoicePart", { voiceId: voice.id, part });
			if (bytes === null) return null;
			parts.push(bytes);
		}
		return Buffer.concat(parts, voice.sampleBytes);
	}
}

/** Returns the owner of new voices. A wallet owns them under its own name, even if it is linked to an account. */
function ownerOf(caller: Caller): string {
	return caller.wallet ?? caller.account.id;
}
