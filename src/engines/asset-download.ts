import type { AssetStatus, AssetStore, EnsureOptions } from "../assets/index.ts";
import type { Log } from "../telemetry/log.ts";

/** A failed download is not retried sooner, however many requests come. */
const FETCH_AGAIN_AFTER_MS = 60_000;

export interface AssetDownloadOptions {
	readonly assets: AssetStore;
	/** The assets of an engine. */
	readonly names: readonly string[];
	/** `any`: the names are alternatives, tried in order. */
	readonly need: "all" | "any";
	/** The engine's name for callers, at the beginning of a sentence: `The embedded model`. */
	readonly what: string;
	/** The argument of `models pull` that fetches all of it. */
	readonly pullName: string;
	readonly log: Log;
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

/** The assets of an engine: whether they are present, their progress, and their download in the background. */
export class AssetDownload {
	readonly #options: AssetDownloadOptions;
	readonly #stopped = new AbortController();
	#fetching: Promise<void> | null = null;
	#fetchAgainAt = 0;

	constructor(options: AssetDownloadOptions) {
		this.#options = options;
	}

	/**
	 * Returns, for callers, why the engine cannot work yet: the progress, or what the operator can do. null: all assets are
	 * present.
	 */
	async missing(): Promise<{ readonly text: string; readonly cause: AssetStatus["error"] } | null> {
		const { assets, names, need, what, pullName } = this.#options;
		const states = await Promise.all(names.map((name) => assets.status(name)));
		const isReady = ({ state }: AssetStatus) => state === "ready";
		if (need === "all" ? states.every(isReady) : states.some(isReady)) return null;
		const counted =
			need === "all" ? states : [states.find(({ state }) => state === "fetching") ?? states[0]].flatMap((each) => each ?? []);
		const sum = (part: (status: AssetStatus) => number) => megabytes(counted.reduce((total, status) => total + part(status), 0));
		const progress = `${sum((status) => status.receivedBytes)} of ${sum((status) => status.totalBytes)} MB`;
		const failed = states.find(({ error }) => error);
		const cause = failed?.error;
		if (states.some(({ state }) => state === "fetching")) return { text: `${what} is being downloaded: ${progress}`, cause };
		if (names.length === 0) return { text: `${what} does not exist for this platform`, cause };
		if (failed) return { text: `${what} could not be downloaded. The operator can run: turnpike models pull ${pullName}`, cause };
		return { text: `${what} is not downloaded yet: ${progress}`, cause };
	}

	/** Starts the download if it is needed, without waiting for it. A failure appears in `missing` and in the log. */
	prefetch(onProgress?: EnsureOptions["onProgress"]): void {
		if (this.#fetching || performance.now() < this.#fetchAgainAt || this.#stopped.signal.aborted) return;
		const { what, log } = this.#options;
		this.#fetching = this.#fetch({ signal: this.#stopped.signal, ...(onProgress ? { onProgress } : {}) })
			.catch((err: unknown) => {
				this.#fetchAgainAt = performance.now() + FETCH_AGAIN_AFTER_MS;
				if (!this.#stopped.signal.aborted) log.error({ err }, `${what} could not be downloaded`);
			})
			.finally(() => {
				this.#fetching = null;
			});
	}

	/** Aborts the download for good. */
	async stop(): Promise<void> {
		this.#stopped.abort();
		await this.#fetching;
	}

	async #fetch(options: EnsureOptions): Promise<void> {
		const { assets, names, need } = this.#options;
		if (need === "all") {
			for (const name of names) await assets.ensure(name, options);
			return;
		}
		let fault: unknown;
		for (const name of names) {
			try {
				await assets.ensure(name, options);
				return;
			} catch (thrown) {
				options.signal?.throwIfAborted();
				fault ??= thrown;
			}
		}
		if (fault !== undefined) throw fault;
	}
}
