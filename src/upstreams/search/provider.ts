import type { Config } from "../../config/index.ts";
import type { SearchProviderName, SearchResult } from "./port.ts";

export type SafeSearch = Config["web"]["safeSearch"];

/** A request for one page of results. */
export interface ResultPageRequest {
	readonly text: string;
	/** Number of results that are still needed. */
	readonly limit: number;
	/** The page number, from 1. */
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

/** The protocol of one provider. */
export interface SearchProvider {
	readonly name: SearchProviderName;
	/** Maximum number of pages that one search reads. */
	readonly maxPages: number;
	/** The key, which is never logged. */
	readonly secret: string | null;
	request(page: ResultPageRequest): ProviderRequest;
	/** Reads the results of a successful answer. Throws if it is none. */
	results(answer: unknown): readonly SearchResult[];
}
