import type { OrphanedVoice, UpstreamVoiceRegistry } from "../access/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import type { AudioUpstreams } from "../upstreams/audio/index.ts";

export interface VoiceCleanupJobDeps {
	readonly store: Pick<StorePort, "admin">;
	readonly clock: Pick<Clock, "wallMs">;
	readonly timers: Timers;
	readonly registry: Pick<UpstreamVoiceRegistry, "orphaned" | "confirmDeleted">;
	readonly upstreams: Pick<AudioUpstreams, "deleteVoice">;
}

const EVERY_MS = 60_000;
const SOON_MS = 1_000;
/** A step is short, so other work runs between two steps. */
const AT_ONCE = 20;

/**
 * Deletes expired voices with their samples, and deletes at upstreams the copies of voices that no longer exist. It runs once a
 * minute, in small steps beside the requests.
 */
export class VoiceCleanupJob {
	readonly #deps: VoiceCleanupJobDeps;
	#cancel: () => void;
	#running = false;
	#runAgain = false;
	#stopped = false;

	constructor(deps: VoiceCleanupJobDeps) {
		this.#deps = deps;
		this.#cancel = deps.timers.after(EVERY_MS, () => void this.#step());
	}

	stop(): void {
		this.#stopped = true;
		this.#cancel();
	}

	/** Runs the next step at once, because a voice was deleted. */
	soon(): void {
		if (this.#running) this.#runAgain = true;
		else this.#schedule(0);
	}

	#schedule(delayMs: number): void {
		this.#cancel();
		if (!this.#stopped) this.#cancel = this.#deps.timers.after(delayMs, () => void this.#step());
	}

	async #step(): Promise<void> {
		this.#running = true;
		this.#runAgain = false;
		let nextMs = EVERY_MS;
		try {
			const { store, clock, registry } = this.#deps;
			const { more } = await store.admin("sweepVoices", { nowMs: clock.wallMs(), rows: AT_ONCE });
			const orphans = await registry.orphaned(AT_ONCE);
			for (const voice of orphans) await this.#deleteAtUpstream(voice);
			if (more || orphans.length >= AT_ONCE) nextMs = SOON_MS;
		} catch {
			// If the store is unreachable, the next step finds the same voices.
		}
		this.#running = false;
		this.#schedule(this.#runAgain ? 0 : nextMs);
	}

	async #deleteAtUpstream(voice: OrphanedVoice): Promise<void> {
		try {
			await this.#deps.upstreams.deleteVoice(voice.upstream, voice.name);
		} catch {
			// An upstream that is unreachable or refuses is called again later.
			return;
		}
		await this.#deps.registry.confirmDeleted(voice);
	}
}
