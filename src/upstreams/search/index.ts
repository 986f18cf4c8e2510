/**
 * The operator's search providers behind one interface. They are tried in the operator's order. Results have one form:
 * a title, an address, a text and a date. Queries and keys are never logged.
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
