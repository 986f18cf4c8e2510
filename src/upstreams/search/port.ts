/** Searching the web: what routes and conversations hand in and get. */
export interface WebSearch {
	/** Names of the providers that are set up, in their order; none: nothing is searched here. */
	providers(): readonly SearchProviderName[];
	/**
	 * Asks the providers in their order until one answers.
	 * @throws SearchFault; what `signal` aborts with
	 */
	search(query: SearchQuery, signal: AbortSignal): Promise<SearchAnswer>;
}

export type SearchProviderName = "searxng" | "brave" | "google" | "tavily" | "exa";

export interface SearchQuery {
	/** 1 to 400 characters. */
	readonly text: string;
	/** 1 to 20 results. */
	readonly limit: number;
	/** Is asked first where it is set up. */
	readonly prefer?: SearchProviderName | undefined;
}

export interface SearchResult {
	readonly title: string;
	readonly url: string;
	/** What the provider shows of the page; may hold HTML tags. */
	readonly content: string;
	/** UTC, as in 2025-01-02T03:04:05; "" where the provider does not say. */
	readonly date: string;
}

export interface SearchAnswer {
	readonly provider: SearchProviderName;
	readonly results: readonly SearchResult[];
}

export type SearchFaultKind =
	/** No provider is set up. */
	| "not_configured"
	/** All asked to be asked later. */
	| "overloaded"
	| "failed";

/** Why a search has no answer. The text may go to the caller. */
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
