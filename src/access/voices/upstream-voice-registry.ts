import { randomBytes } from "node:crypto";
import { ApiError } from "../../errors/index.ts";
import type { StorePort } from "../../store/port.ts";
import { type Clock, sleep, type Timers } from "../../telemetry/clock.ts";

/** How an upstream is given a sample, and how it is taken back. */
export interface UpstreamVoiceApi {
	/** Gives the sample to the upstream; answers with the upstream's name for the voice. */
	create(signal: AbortSignal): Promise<string>;
	/** Takes one back that was made in vain. */
	delete(name: string): Promise<void>;
}

/** A voice that an upstream keeps although ours is gone. */
export interface OrphanedVoice {
	readonly voiceId: string;
	readonly upstream: string;
	/** The upstream's own. */
	readonly name: string;
	/** Under which it was taken. */
	readonly claim: string;
}

export interface UpstreamVoiceRegistryDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly clock: Pick<Clock, "wallMs">;
	readonly timers: Timers;
}

/** An upload that takes longer is given up; a claim ends after it, so that nobody uploads meanwhile. */
const UPLOAD_MS = 60_000;
const CLAIM_MS = UPLOAD_MS + 30_000;
/** Between two looks whether another node is done. */
const POLL_MS = 250;
/** Until what could not be taken back is tried again. */
const RETRY_DELETE_MS = 600_000;

/**
 * What upstreams call the voices that callers brought. A sample goes to an upstream once, whatever the number of requests
 * and nodes: who comes meanwhile waits for the one who uploads.
 */
export class UpstreamVoiceRegistry {
	readonly #deps: UpstreamVoiceRegistryDeps;
	/** Of this node, by voice and upstream. */
	readonly #underWay = new Map<string, Promise<string>>();

	constructor(deps: UpstreamVoiceRegistryDeps) {
		this.#deps = deps;
	}

	/**
	 * The upstream's name for the voice, which is made where there is none. It goes on where `signal` ends the wait.
	 * @throws ApiError INVALID_REQUEST where the voice was deleted; what `work` throws; the reason of `signal`
	 */
	async nameOf(voiceId: string, upstream: string, work: UpstreamVoiceApi, signal: AbortSignal): Promise<string> {
		const key = JSON.stringify([voiceId, upstream]);
		const running = this.#underWay.get(key) ?? this.#find(voiceId, upstream, work).finally(() => this.#underWay.delete(key));
		this.#underWay.set(key, running);
		running.catch(() => {});
		const left = Promise.withResolvers<never>();
		const onAbort = () => left.reject(signal.reason);
		if (signal.aborted) onAbort();
		else signal.addEventListener("abort", onAbort, { once: true });
		try {
			return await Promise.race([running, left.promise]);
		} finally {
			signal.removeEventListener("abort", onAbort);
		}
	}

	/** Forgets a name that the upstream refuses: the next request makes a new one. True for the one who has to take it back. */
	forget(voiceId: string, upstream: string, name: string): Promise<boolean> {
		return this.#deps.store.admin("forgetUpstreamVoice", { voiceId, upstream, name });
	}

	/** Some that have to be taken back, each given to one node; they come again after a while unless `tookBack` is told. */
	async orphaned(rows: number): Promise<readonly OrphanedVoice[]> {
		const nowMs = this.#deps.clock.wallMs();
		const claim = newClaim();
		const left = await this.#deps.store.admin("takeLeftVoices", { claim, nowMs, untilMs: nowMs + RETRY_DELETE_MS, rows });
		return left.map((voice) => ({ ...voice, claim }));
	}

	async confirmDeleted({ voiceId, upstream, claim }: OrphanedVoice): Promise<void> {
		await this.#deps.store.admin("dropUpstreamVoice", { voiceId, upstream, claim });
	}

	async #find(voiceId: string, upstream: string, work: UpstreamVoiceApi): Promise<string> {
		const { store, clock, timers } = this.#deps;
		const claim = newClaim();
		for (let waitedMs = 0; waitedMs <= CLAIM_MS; waitedMs += POLL_MS) {
			const nowMs = clock.wallMs();
			const asked = { voiceId, upstream, claim, nowMs, untilMs: nowMs + CLAIM_MS };
			const found = await store.admin("claimUpstreamVoice", asked);
			if (found.state === "there") return found.name;
			if (found.state === "gone")
				throw new ApiError("INVALID_REQUEST", { message: `Voice "${voiceId}" was deleted`, param: "voice" });
			if (found.state === "mine") return this.#make({ voiceId, upstream, claim }, work);
			await sleep(timers, POLL_MS);
		}
		throw new ApiError("MODEL_OVERLOADED", { retryAfterSeconds: 30 });
	}

	async #make(
		key: { readonly voiceId: string; readonly upstream: string; readonly claim: string },
		work: UpstreamVoiceApi,
	): Promise<string> {
		const { store, timers } = this.#deps;
		const stopper = new AbortController();
		const cancel = timers.after(UPLOAD_MS, () => stopper.abort(new ApiError("REQUEST_TIMEOUT")));
		let name: string;
		try {
			name = await work.create(stopper.signal);
		} catch (error) {
			await store.admin("dropUpstreamVoice", key).catch(() => {});
			throw stopper.signal.aborted ? stopper.signal.reason : error;
		} finally {
			cancel();
		}
		if (!(await store.admin("keepUpstreamVoice", { ...key, name }))) {
			await work.delete(name).catch(() => {});
			throw new ApiError("MODEL_OVERLOADED", { retryAfterSeconds: 1 });
		}
		return name;
	}
}

function newClaim(): string {
	return randomBytes(12).toString("base64url");
}
