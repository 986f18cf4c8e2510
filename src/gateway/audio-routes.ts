import { UpstreamVoiceRegistry, VoiceService } from "../access/index.ts";
import type { NodeBudgets } from "../budgets/index.ts";
import type { Catalog } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { AudioEncoder } from "../engines/audio/port.ts";
import type { SpeechEngine } from "../engines/speech/port.ts";
import { VoiceCleanupJob } from "../maintenance/voice-cleanup-job.ts";
import { audioSpeech } from "../routes/audio-speech/index.ts";
import { audioTranscriptions } from "../routes/audio-transcriptions/index.ts";
import { audioVoiceRoutes } from "../routes/audio-voices/index.ts";
import type { Endpoint } from "../server/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";
import { createAudioUpstreams } from "../upstreams/audio/index.ts";
import type { AttemptDeps } from "../upstreams/index.ts";

/** What makes audio on this machine. */
export interface AudioEngines {
	/** The built-in voices; null where they cannot run here. */
	readonly speech: SpeechEngine | null;
	readonly encoder: AudioEncoder;
}

export interface AudioRoutesDeps {
	readonly engines: AudioEngines;
	readonly budgets: NodeBudgets;
	readonly store: StorePort;
	readonly clock: Clock;
	readonly timers: Timers;
	/** The pool of the chat upstreams: the same servers. */
	readonly tools: AttemptDeps;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
}

/** The audio routes put together, and what lets go of the voices that callers brought. */
export class AudioRoutes {
	readonly routes: Endpoint[];
	readonly #sweep: VoiceCleanupJob;

	constructor(inputs: AudioRoutesDeps) {
		const { engines, budgets, store, clock, tools, catalog, config } = inputs;
		const book = new UpstreamVoiceRegistry({ store, clock, timers: inputs.timers });
		const upstreams = createAudioUpstreams(tools, () => config().timeouts, book);
		const voices = new VoiceService(store, clock);
		const { speech: engine, encoder } = engines;
		this.routes = [
			audioSpeech({ budgets, upstreams, engine, encoder, voices, catalog, config }),
			audioTranscriptions({ budgets, upstreams, encoder, catalog, config }),
			...audioVoiceRoutes({ voices, encoder, catalog, config, onDeleted: () => this.#sweep.soon() }),
		];
		this.#sweep = new VoiceCleanupJob({ store, clock, timers: inputs.timers, book, upstreams });
	}

	stop(): void {
		this.#sweep.stop();
	}
}
