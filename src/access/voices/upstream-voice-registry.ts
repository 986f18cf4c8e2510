import { randomBytes } from "node:crypto";
import { ApiError } from "../../errors/index.ts";
import type { StorePort } from "../../store/port.ts";
import { type Clock, sleep, type Timers } from "../../telemetry/clock.ts";

/** Uploads a sample to an upstream, and deletes it there. */
export interface UpstreamVoiceApi {
	/** Uploads the sample; returns the upstream's name for the voice. */
	create(signal: AbortSignal): Promise<string>;
	/** Deletes an upload that is not needed. */
	delete(name: string): Promise<void>;
}

/** A voice that an upstream still has although ours is deleted. */
export interface OrphanedVoice {
	readonly voiceId: string;
	readonly upstream: string;
	/** The upstream's name for the voice. */
	readonly name: string;
	/** The claim under which this node took it. */
	readonly claim: string;
}

export interface UpstreamVoiceRegistryDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly clock: Pick<Clock, "wallMs">;
	readonly timers: Timers;
}

/** A longer upload is aborted. A claim ends later, so that no other node uploads meanwhile. */
const UPLOAD_MS = 60_000;
const CLAIM_MS = UPLOAD_MS + 30_000;
/** The interval at which a node checks whether another node has finished the upload. */
const POLL_MS = 250;
/** The wait before a failed deletion is retried. */
const RETRY_DELETE_MS = 600_000;

/**
 * Maps voices of callers to the upstreams' names for them. A sample is uploaded once to an upstream, whatever the number of
 * requests and nodes; concurrent requests wait for the one that uploads.
 */
export class UpstreamVoiceRegistry {
	readonly #deps: UpstreamVoiceRegistryDeps;
	/** Uploads of this node in progress, by voice and upstream. */
	readonly #uploads = new Map<string, Promise<string>>();

	constructor(deps: UpstreamVoiceRegistryDeps) {
		this.#deps = deps;
	}

	/**
	 * Returns the upstream's name for the voice, and uploads the sample if there is none. The upload continues if `signal` ends
	 * the wait.
	 * @throws {ApiError} INVALID_REQUEST if the voice was deleted; errors of the upload; the reason of `signal`
	 */
	async nameOf(voiceId: string, upstream: string, api: UpstreamVoiceApi, signal: AbortSignal): Promise<string> {
		const key = JSON.stringify([voiceId, upstream]);
		const running = this.#uploads.get(key) ?? this.#find(voiceId, upstream, api).finally(() => this.#uploads.delete(key));
		this.#uploads.set(key, running);
		running.catch(() => {});
		const voices = Promise.withResolvers<never>();
		const onAbort = () => voices.reject(signal.reason);
		if (signal.aborted) onAbort();
		else signal.addEventListener("abort", onAbort, { once: true });
		try {
			return await Promise.race([running, voices.promise]);
		} finally {
			signal.removeEventListener("abort", onAbort);
		}
	}

	/**
	 * Forgets a name that the upstream refuses; the next request uploads again. Returns true for the one caller that has to
	 * delete the old upload.
	 */
	forget(voiceId: string, upstream: string, name: string): Promise<boolean> {
		return this.#deps.store.admin("forgetUpstreamVoice", { voiceId, upstream, name });
	}

	/**
	 * Returns orphaned voices to delete, each claimed by one node. They come again after a while unless `confirmDeleted` is
	 * called.
	 */
	async orphaned(rows: number): Promise<readonly OrphanedVoice[]> {
		const nowMs = this.#deps.clock.wallMs();
		const claim = createClaim();
		const voices = await this.#deps.store.admin("takeLeftVoices", { claim, nowMs, untilMs: nowMs + RETRY_DELETE_MS, rows });
		return voices.map((voice) => ({ ...voice, claim }));
	}

	async confirmDeleted({ voiceId, upstream, claim }: OrphanedVoice): Promise<void> {
		await this.#deps.store.admin("dropUpstreamVoice", { voiceId, upstream, claim });
	}

	async #find(voiceId: string, upstream: string, api: UpstreamVoiceApi): Promise<string> {
		const { store, clock, timers } = this.#deps;
		const claim = createClaim();
		for (let waitedMs = 0; waitedMs <= CLAIM_MS; waitedMs += POLL_MS) {
			const nowMs = clock.wallMs();
			const claimRequest = { voiceId, upstream, claim, nowMs, untilMs: nowMs + CLAIM_MS };
			const claimResult = await store.admin("claimUpstreamVoice", claimRequest);
			if (claimResult.state === "there") return claimResult.name;
			if (claimResult.state === "gone")
				throw new ApiError("INVALID_REQUEST", { message: `Voice "${voiceId}" was deleted`, param: "voice" });
			if (claimResult.state === "mine") return this.#make({ voiceId, upstream, claim }, api);
			await sleep(timers, POLL_MS);
		}
		throw new ApiError("MODEL_OVERLOADED", { retryAfterSeconds: 30 });
	}

	async #make(
		key: { readonly voiceId: string; readonly upstream: string; readonly claim: string },
		api: UpstreamVoiceApi,
	): Promise<string> {
		const { store, timers } = this.#deps;
		const stopper = new AbortController();
		const cancel = timers.after(UPLOAD_MS, () => stopper.abort(new ApiError("REQUEST_TIMEOUT")));
		let name: string;
		try {
			name = await api.create(stopper.signal);
		} catch (error) {
			await store.admin("dropUpstreamVoice", key).catch(() => {});
			throw stopper.signal.aborted ? stopper.signal.reason : error;
		} finally {
			cancel();
		}
		if (!(await store.admin("keepUpstreamVoice", { ...key, name }))) {
			await api.delete(name).catch(() => {});
			throw new ApiError("MODEL_OVERLOADED", { retryAfterSeconds: 1 });
		}
		return name;
	}
}

function createClaim(): string {
	return randomBytes(12).toString("base64url");
}
