import type { UpstreamConfig } from "../config/index.ts";
import { DiscoveryError, discoverModels, type Fetch } from "./discover-models.ts";
import type { DiscoveredModel } from "./types.ts";

export interface DiscoveryOptions {
	readonly upstreams: Readonly<Record<string, UpstreamConfig>>;
	/** The interval at which an unreachable upstream is queried again (`models.discoverEveryMs`). */
	readonly retryMs: number;
	/** The interval at which a reachable upstream is queried again. Default 5 minutes. */
	readonly refreshMs?: number;
	/** Limit for one list. Default 10 s. */
	readonly timeoutMs?: number;
	readonly fetch?: Fetch;
	/** Milliseconds; default `Date.now`. */
	readonly wallMs?: () => number;
	/** Called when an upstream's list is first known or changes. It must not throw. */
	readonly onChange?: (upstream: string) => void;
	/** Called when an upstream stops answering, or fails in a new way. */
	readonly onFault?: (upstream: string, error: DiscoveryError) => void;
}

/** The state of one upstream's list. */
export interface DiscoveryStatus {
	readonly state: "asking" | "up" | "down";
	readonly models: readonly DiscoveredModel[] | null;
	/** When its list was last read, in milliseconds. */
	readonly listedAtMs: number | null;
	readonly error: DiscoveryError | null;
}

interface Watched {
	readonly upstream: UpstreamConfig;
	status: DiscoveryStatus;
	timer: ReturnType<typeof setTimeout> | null;
	asking: Promise<void> | null;
}

const FIRST: DiscoveryStatus = { state: "asking", models: null, listedAtMs: null, error: null };

/**
 * Keeps the model lists of discovered upstreams up to date. The last list stays while its upstream is down. Its timers keep no
 * process alive.
 */
export class Discovery {
	readonly #watched: ReadonlyMap<string, Watched>;
	readonly #options: DiscoveryOptions;
	readonly #stopped = new AbortController();

	constructor(options: DiscoveryOptions) {
		this.#options = options;
		const discoverable = Object.entries(options.upstreams).filter(([, upstream]) => upstream.discover);
		this.#watched = new Map(
			discoverable.map(([name, upstream]) => [name, { upstream, status: FIRST, timer: null, asking: null }]),
		);
	}

	/** Queries every upstream now and periodically. Resolves when each has answered or failed once. */
	async start(): Promise<void> {
		await this.refresh();
	}

	/** Queries every upstream (or one) now, and joins a running query. It never rejects. */
	async refresh(upstream?: string): Promise<void> {
		const names = upstream === undefined ? [...this.#watched.keys()] : [upstream];
		await Promise.all(names.map((name) => this.#ask(name)));
	}

	/** Maps upstream names to their last valid list. Upstreams that never answered are missing. */
	lists(): Map<string, readonly DiscoveredModel[]> {
		return new Map([...this.#watched].flatMap(([name, { status }]) => (status.models ? [[name, status.models]] : [])));
	}

	status(upstream: string): DiscoveryStatus | undefined {
		return this.#watched.get(upstream)?.status;
	}

	/** Aborts queries and timers. No events follow. */
	async stop(): Promise<void> {
		this.#stopped.abort();
		for (const watched of this.#watched.values()) if (watched.timer) clearTimeout(watched.timer);
		await Promise.all([...this.#watched.values()].map(({ asking }) => asking));
	}

	#ask(name: string): Promise<void> {
		const watched = this.#watched.get(name);
		if (!watched || this.#stopped.signal.aborted) return Promise.resolve();
		watched.asking ??= this.#askOnce(name, watched).finally(() => {
			watched.asking = null;
			this.#schedule(name, watched);
		});
		return watched.asking;
	}

	async #askOnce(name: string, watched: Watched): Promise<void> {
		const { fetch, timeoutMs } = this.#options;
		const limits = { signal: this.#stopped.signal, ...(fetch && { fetch }), ...(timeoutMs !== undefined && { timeoutMs }) };
		try {
			const models = await discoverModels(watched.upstream, limits);
			if (!this.#stopped.signal.aborted) this.#recordList(name, watched, models);
		} catch (error) {
			if (!this.#stopped.signal.aborted) this.#recordFault(name, watched, error);
		}
	}

	#recordList(name: string, watched: Watched, listed: readonly DiscoveredModel[]): void {
		const previous = watched.status.models;
		const nowMs = (this.#options.wallMs ?? Date.now)();
		const models = withFirstCreated(listed, previous ?? [], Math.floor(nowMs / 1000));
		const changed = previous === null || JSON.stringify(previous) !== JSON.stringify(models);
		watched.status = { state: "up", models: changed ? models : previous, listedAtMs: nowMs, error: null };
		if (changed) this.#options.onChange?.(name);
	}

	#recordFault(name: string, watched: Watched, thrown: unknown): void {
		const error =
			thrown instanceof DiscoveryError
				? thrown
				: new DiscoveryError("unreachable", `the list could not be read: ${thrown}`, thrown);
		const isNews = watched.status.error?.message !== error.message;
		watched.status = { ...watched.status, state: "down", error };
		if (isNews) this.#options.onFault?.(name, error);
	}

	#schedule(name: string, watched: Watched): void {
		if (this.#stopped.signal.aborted) return;
		if (watched.timer) clearTimeout(watched.timer);
		const { retryMs, refreshMs = 300_000 } = this.#options;
		const waitMs = watched.status.state === "up" ? Math.max(refreshMs, retryMs) : retryMs;
		watched.timer = setTimeout(() => void this.#ask(name), waitMs);
		watched.timer.unref?.();
	}
}

/** Keeps the first `created` of a model, because some servers send the current second in each answer. */
function withFirstCreated(
	listed: readonly DiscoveredModel[],
	previous: readonly DiscoveredModel[],
	nowSeconds: number,
): readonly DiscoveredModel[] {
	const firstCreated = new Map(previous.map(({ id, created }) => [id, created]));
	return listed.map((model) => ({ ...model, created: firstCreated.get(model.id) ?? model.created ?? nowSeconds }));
}
