/**
 * The operator's search providers behind one interface. Promises: asked in the operator's order, the next where one fails;
 * results in one form, each with a title, an address, a text and a date; no query and no key in a log.
 */
export {
	type SearchAnswer,
	SearchFault,
	type SearchFaultKind,
	type SearchProviderName,
	type SearchQuery,
	type SearchResult,
	type WebSearch,
} from "./port.ts";
export { createWebSearch, type WebSearchOptions } from "./web-search.ts";
