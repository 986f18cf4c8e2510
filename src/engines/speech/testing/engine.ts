/** The embedded voice, running, as the tests beside this file use it. */
import { join } from "node:path";
import { AssetStore, loadManifest } from "../../../assets/index.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { EMBEDDED_SPEECH_ASSETS, EmbeddedSpeech } from "../embedded-speech.ts";
import { SPEECH_SAMPLE_RATE } from "../port.ts";

const CHECKOUT = join(import.meta.dir, "../../../..");

export interface Spoken {
	readonly samples: Int16Array;
	readonly seconds: number;
	/** `charactersDone` of each piece. */
	readonly done: readonly number[];
}

export function joinedSamples(parts: readonly Int16Array[]): Int16Array {
	return Int16Array.from(parts.flatMap((part) => [...part]));
}

export interface SayOptions {
	readonly voice?: string;
	readonly speed?: number;
	readonly signal?: AbortSignal;
	readonly tenant?: string;
}

export class SpeakingEngine {
	readonly engine: EmbeddedSpeech;
	readonly #assets: AssetStore;

	/** @param queue requests that may wait */
	constructor(queue: number) {
		const manifest = loadManifest(join(CHECKOUT, "catalog/assets.json"));
		// Kept between runs.
		this.#assets = new AssetStore({ dir: join(CHECKOUT, ".cache/assets"), manifest, log: silentLog });
		const config = { enabled: true, threads: 1, queue, maxMemoryMb: 1024, idleStopMs: 600_000 };
		this.engine = new EmbeddedSpeech({ config, assets: this.#assets, log: silentLog });
	}

	async fetchAssets(): Promise<void> {
		for (const name of Object.values(EMBEDDED_SPEECH_ASSETS)) await this.#assets.ensure(name);
	}

	pieces(
		text: string,
		{ voice = "af_heart", speed = 1, signal = new AbortController().signal, tenant = "test" }: SayOptions = {},
	) {
		return this.engine.synthesize({ text, voice, speed, tenant, signal });
	}

	async say(text: string, options: SayOptions = {}): Promise<Spoken> {
		const parts: Int16Array[] = [];
		const done: number[] = [];
		for await (const piece of this.pieces(text, options)) {
			parts.push(piece.samples);
			done.push(piece.charactersDone);
		}
		const samples = joinedSamples(parts);
		return { samples, seconds: samples.length / SPEECH_SAMPLE_RATE, done };
	}
}
