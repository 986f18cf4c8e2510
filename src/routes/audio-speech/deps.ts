import type { VoiceService } from "../../access/index.ts";
import type { Budgets } from "../../budgets/port.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { AudioEncoder } from "../../engines/audio/port.ts";
import type { SpeechEngine } from "../../engines/speech/port.ts";
import type { AudioUpstreams } from "../../upstreams/audio/port.ts";

/** The dependencies of the speech route. They are functions if a reload changes the result. */
export interface SpeechDeps {
	readonly budgets: Budgets;
	readonly upstreams: AudioUpstreams;
	/** The built-in voices; null if they cannot run on this machine. */
	readonly engine: SpeechEngine | null;
	readonly encoder: AudioEncoder;
	readonly voices: VoiceService;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
}
