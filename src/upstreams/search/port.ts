/** Web search as routes and conversations use it. */
export interface WebSearch {
	/** Returns the configured providers in their order; empty if search is not configured. */
	providers(): readonly SearchProviderName[];
	/**
	 * Tries the providers in their order until one answers.
	 * @throws SearchFault; the signal's reason
	 */
	search(query: SearchQuery, signal: AbortSignal): Promise<SearchAnswer>;
}

export type SearchProviderName = "searxng" | "brave" | "google" | "tavily" | "exa";

export interface SearchQuery {
	/** 1 to 400 characters. */
	readonly text: string;
	/** 1 to 20 results. */
	readonly limit: number;
	/** The provider to try first, if it is configured. */
	readonly prefer?: SearchProviderName | undefined;
}

export interface SearchResult {
	readonly title: string;
	readonly url: string;
	/** The provider's excerpt of the page; may contain HTML tags. */
	readonly content: string;
	/** UTC, such as 2025-01-02T03:04:05; "" if the provider gives no date. */
	readonly date: string;
}

export interface SearchAnswer {
	readonly provider: SearchProviderName;
	readonly results: readonly SearchResult[];
}

export type SearchFaultKind =
	/** No provider is configured. */
	| "not_configured"
	/** All asked to be asked later. */
	| "overloaded"
	| "failed";

/** The reason why a search failed. Its text may be sent to the caller. */
export class SearchFault extends Error {
	override readonly name = "SearchFault";
	readonly kind: SearchFaultKind;
	readonly retryAfterSeconds: number | undefined;

	constructor(kind: SearchFaultKind, message: string, retryAfterSeconds?: number) {
		super(message);
		this.kind = kind;
		this.retryAfterSeconds = retryAfterSeconds;
	}
}
