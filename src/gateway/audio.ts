import { UpstreamVoiceRegistry, VoiceService } from "../access/index.ts";
import type { NodeBudgets } from "../budgets/index.ts";
import type { Catalog } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { AudioEncoder } from "../engines/audio/port.ts";
import type { SpeechEngine } from "../engines/speech/port.ts";
import { VoiceCleanupJob } from "../maintenance/voice-cleanup-job.ts";
import type { RouteDeps } from "../routes/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import { createAudioUpstreams } from "../upstreams/audio/index.ts";
import type { AttemptDeps } from "../upstreams/index.ts";

/** The engines that make audio on this machine. */
export interface AudioEngines {
	/** The built-in voices; null if they cannot run here. */
	readonly speech: SpeechEngine | null;
	readonly encoder: AudioEncoder;
}

export interface AudioDeps {
	readonly engines: AudioEngines;
	readonly budgets: NodeBudgets;
	readonly store: StorePort;
	readonly clock: Clock;
	readonly timers: Timers;
	/** The pool of the chat upstreams, which are the same servers. */
	readonly attemptDeps: AttemptDeps;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
}

/** Assembles the dependencies of the audio routes, and runs the job that removes expired voices. */
export class Audio {
	readonly routeDeps: Pick<RouteDeps, "speech" | "transcription" | "voices">;
	readonly #cleanup: VoiceCleanupJob;

	constructor(deps: AudioDeps) {
		const { engines, budgets, store, clock, attemptDeps, catalog, config } = deps;
		const registry = new UpstreamVoiceRegistry({ store, clock, timers: deps.timers });
		const upstreams = createAudioUpstreams(attemptDeps, () => config().timeouts, registry);
		const voices = new VoiceService(store, clock);
		const { speech: engine, encoder } = engines;
		this.routeDeps = {
			speech: { budgets, upstreams, engine, encoder, voices, catalog, config },
			transcription: { budgets, upstreams, encoder, catalog, config },
			voices: { voices, encoder, catalog, config, onDeleted: () => this.#cleanup.soon() },
		};
		this.#cleanup = new VoiceCleanupJob({ store, clock, timers: deps.timers, registry, upstreams });
	}

	stop(): void {
		this.#cleanup.stop();
	}
}
