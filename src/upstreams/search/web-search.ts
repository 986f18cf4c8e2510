import type { Config } from "../../config/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { systemTimerClock, type TimerClock } from "../../telemetry/timer-clock.ts";
import type { Fetch } from "../fetch.ts";
import {
	type SearchAnswer,
	SearchFault,
	type SearchProviderName,
	type SearchQuery,
	type SearchResult,
	type WebSearch,
} from "./port.ts";
import type { SearchProvider } from "./provider.ts";
import { configuredProviders } from "./providers.ts";
import { ProviderStatus, requestProvider } from "./request-provider.ts";

export interface WebSearchOptions {
	readonly config: () => Pick<Config["web"], "search" | "safeSearch" | "searchMs">;
	/** Default: the system's clock. */
	readonly clock?: TimerClock;
	readonly log: Log;
	/** Default: the runtime's fetch. */
	readonly fetch?: Fetch;
}

/** A provider that failed is tried last for this time, or for its Retry-After, up to five minutes. */
const DEFER_MS = 30_000;
const MAX_DEFER_MS = 300_000;

/** Creates a search over the operator's providers, which are tried one after another. Queries are never logged. */
export function createWebSearch(options: WebSearchOptions): WebSearch {
	const { config, clock = systemTimerClock, log, fetch = globalThis.fetch as Fetch } = options;
	/** The instant until which a provider is tried last. */
	const deferred = new Map<SearchProviderName, number>();

	async function results(provider: SearchProvider, { text, limit }: SearchQuery, signal: AbortSignal): Promise<SearchResult[]> {
		const { safeSearch: safe } = config();
		const byUrl = new Map<string, SearchResult>();
		for (let page = 1; page <= provider.maxPages && byUrl.size < limit; page += 1) {
			const request = provider.request({ text, limit: limit - byUrl.size, page, safe });
			try {
				const before = byUrl.size;
				for (const result of provider.results(await requestProvider(fetch, provider, request, signal)))
					if (!byUrl.has(result.url)) byUrl.set(result.url, result);
				if (byUrl.size === before) break;
			} catch (fault) {
				// The results of earlier pages are an answer.
				if (byUrl.size === 0 || signal.aborted) throw fault;
				break;
			}
		}
		return [...byUrl.values()].slice(0, limit);
	}

	async function attempt(provider: SearchProvider, query: SearchQuery, signal: AbortSignal): Promise<SearchResult[]> {
		const { searchMs } = config();
		const end = new AbortController();
		const leave = () => end.abort(signal.reason);
		const cancelTimer = clock.after(searchMs, () => end.abort(new Error(`it did not answer within ${searchMs / 1_000} s`)));
		signal.addEventListener("abort", leave, { once: true });
		try {
			signal.throwIfAborted();
			return await results(provider, query, end.signal);
		} catch (fault) {
			throw end.signal.aborted ? end.signal.reason : fault;
		} finally {
			cancelTimer();
			signal.removeEventListener("abort", leave);
		}
	}

	/** Returns the providers: the preferred one first, and those that just failed last. */
	function ordered(prefer: SearchProviderName | undefined): SearchProvider[] {
		const now = clock.monotonicMs();
		const rank = ({ name }: SearchProvider) => ((deferred.get(name) ?? 0) > now ? 2 : name === prefer ? 0 : 1);
		return configuredProviders(config().search).sort((a, b) => rank(a) - rank(b));
	}

	return {
		providers: () => configuredProviders(config().search).map(({ name }) => name),
		async search(query, signal): Promise<SearchAnswer> {
			const providers = ordered(query.prefer);
			if (providers.length === 0)
				throw new SearchFault(
					"not_configured",
					"This service searches nowhere: its operator has to set web.search in turnpike.yaml",
				);
			const waits: number[] = [];
			for (const provider of providers) {
				try {
					const hits = await attempt(provider, query, signal);
					deferred.delete(provider.name);
					return { provider: provider.name, results: hits };
				} catch (fault) {
					signal.throwIfAborted();
					const retryAfterMs = fault instanceof ProviderStatus ? Number(fault.retryAfter) * 1_000 : 0;
					const deferMs = retryAfterMs > 0 ? Math.min(retryAfterMs, MAX_DEFER_MS) : DEFER_MS;
					deferred.set(provider.name, clock.monotonicMs() + deferMs);
					if (fault instanceof ProviderStatus && fault.status === 429) waits.push(deferMs);
					log.warn({ provider: provider.name, cause: (fault as Error).message }, "a search provider gave no answer");
				}
			}
			if (waits.length === providers.length)
				throw new SearchFault("overloaded", "The search is overloaded; try again shortly", Math.ceil(Math.min(...waits) / 1_000));
			throw new SearchFault("failed", "No search provider gave an answer; try again");
		},
	};
}
