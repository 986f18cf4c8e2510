import { join } from "node:path";
import { AssetStore, loadManifest } from "../../src/assets/index.ts";
import { EmbeddedImages, type EmbeddedImagesOptions } from "../../src/engines/images/index.ts";
import type { ImageEngine, ScorerState } from "../../src/engines/images/port.ts";
import { silentLog } from "../../src/telemetry/log.ts";

const CHECKOUT = join(import.meta.dir, "../..");

/** The real engine with a score that tests decide: no picture of the kind that is looked for is needed, nor the model. */
export class ScoredEngine implements ImageEngine {
	readonly #real: EmbeddedImages;
	/** What the next pictures score. */
	scores = 0.01;
	state: ScorerState = { state: "ready", text: "scripted" };
	/** How many pictures were looked at. */
	looked = 0;
	prefetched = 0;
	/** Thrown by the next picture that is finished. */
	failure: Error | null = null;

	constructor(options: Partial<EmbeddedImagesOptions> = {}) {
		const assets = new AssetStore({
			dir: join(CHECKOUT, ".cache/assets"),
			manifest: loadManifest(join(CHECKOUT, "catalog/assets.json")),
			log: silentLog,
		});
		this.#real = new EmbeddedImages({ log: silentLog, assets, processes: 1, ...options });
	}

	readonly normalise: ImageEngine["normalise"] = (...args) => this.#real.normalise(...args);
	readonly blur: ImageEngine["blur"] = (...args) => this.#real.blur(...args);
	readonly localEdit: ImageEngine["localEdit"] = (...args) => this.#real.localEdit(...args);
	readonly upscale: ImageEngine["upscale"] = (...args) => this.#real.upscale(...args);

	readonly finish: ImageEngine["finish"] = (...args) => {
		const { failure } = this;
		this.failure = null;
		return failure === null ? this.#real.finish(...args) : Promise.reject(failure);
	};

	score(): Promise<number> {
		this.looked++;
		return Promise.resolve(this.scores);
	}

	scorerState(): Promise<ScorerState> {
		return Promise.resolve(this.state);
	}

	prefetch(): void {
		this.prefetched++;
	}

	reset(): void {
		this.scores = 0.01;
		this.state = { state: "ready", text: "scripted" };
		this.looked = 0;
		this.prefetched = 0;
		this.failure = null;
	}

	stop(): Promise<void> {
		return this.#real.stop();
	}
}
