import type { OrphanedVoice, UpstreamVoiceRegistry } from "../access/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import type { AudioUpstreams } from "../upstreams/audio/index.ts";

export interface VoiceCleanupJobDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly clock: Pick<Clock, "wallMs">;
	readonly timers: Timers;
	readonly book: Pick<UpstreamVoiceRegistry, "orphaned" | "confirmDeleted">;
	readonly upstreams: Pick<AudioUpstreams, "deleteVoice">;
}

const EVERY_MS = 60_000;
const SOON_MS = 1_000;
/** A step is short, and others come between two. */
const AT_ONCE = 20;

/**
 * Lets go of voices whose time is over, with their samples, and takes back what upstreams keep of voices that are gone:
 * once a minute, in small steps beside the requests.
 */
export class VoiceCleanupJob {
	readonly #deps: VoiceCleanupJobDeps;
	#cancel: () => void;
	#running = false;
	#again = false;
	#stopped = false;

	constructor(deps: VoiceCleanupJobDeps) {
		this.#deps = deps;
		this.#cancel = deps.timers.after(EVERY_MS, () => void this.#step());
	}

	stop(): void {
		this.#stopped = true;
		this.#cancel();
	}

	/** The next step comes at once: a voice was deleted. */
	soon(): void {
		if (this.#running) this.#again = true;
		else this.#next(0);
	}

	#next(delayMs: number): void {
		this.#cancel();
		if (!this.#stopped) this.#cancel = this.#deps.timers.after(delayMs, () => void this.#step());
	}

	async #step(): Promise<void> {
		this.#running = true;
		this.#again = false;
		let nextMs = EVERY_MS;
		try {
			const { store, clock, book } = this.#deps;
			const { more } = await store.admin("sweepVoices", { nowMs: clock.wallMs(), rows: AT_ONCE });
			const left = await book.orphaned(AT_ONCE);
			for (const voice of left) await this.#takeBack(voice);
			if (more || left.length >= AT_ONCE) nextMs = SOON_MS;
		} catch {
			// Where the store is away, the next step finds the same voices.
		}
		this.#running = false;
		this.#next(this.#again ? 0 : nextMs);
	}

	async #takeBack(voice: OrphanedVoice): Promise<void> {
		try {
			await this.#deps.upstreams.deleteVoice(voice.upstream, voice.name);
		} catch {
			// An upstream that is away, or refuses, is asked again later.
			return;
		}
		await this.#deps.book.confirmDeleted(voice);
	}
}
