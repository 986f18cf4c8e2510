import type { Config } from "../../config/index.ts";
import type { SearchProviderName, SearchResult } from "./port.ts";

export type SafeSearch = Config["web"]["safeSearch"];

/** One page of results that is asked for. */
export interface ResultPageRequest {
	readonly text: string;
	/** Results that are still wanted. */
	readonly limit: number;
	/** From 1 on. */
	readonly page: number;
	readonly safe: SafeSearch;
}

export interface ProviderRequest {
	readonly url: string;
	readonly method: "GET" | "POST";
	readonly headers: Readonly<Record<string, string>>;
	/** Sent as JSON. */
	readonly body?: object;
}

/** How one provider is asked, and how it answers. */
export interface SearchProvider {
	readonly name: SearchProviderName;
	/** Pages that one search may take. */
	readonly maxPages: number;
	/** Never stands in a log. */
	readonly secret: string | null;
	request(page: ResultPageRequest): ProviderRequest;
	/** Reads a good answer. Throws where it is none. */
	results(answer: unknown): readonly SearchResult[];
}
