/**
 * POST /augment/search: results of the operator's search providers in one form. Only an answer is charged. Queries are
 * never logged.
 */
import { type Endpoint, metered } from "../../server/endpoint.ts";
import { SearchAnswerSchema, type SearchBody, SearchSchema } from "./schema.ts";
import { admitSearch, type SearchDeps } from "./search.ts";

const MAX_BODY_BYTES = 65_536;

export function search(parts: SearchDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/augment/search",
		name: "search",
		tag: "Web",
		summary: "Search the web",
		description: "Up to 20 results for a query of up to 400 characters.",
		openAi: false,
		callers: ["key", "wallet"],
		body: { schema: SearchSchema, maxBytes: MAX_BODY_BYTES },
		codes: ["SERVICE_UNAVAILABLE", "MODEL_OVERLOADED", "INFERENCE_FAILED"],
		answer: { type: "application/json", schema: SearchAnswerSchema, description: "The results" },
		mayBeFree: () => parts.config().web.pricePerSearchUsd === 0,
		minuteWindow: () => ({ subject: "search", limit: { requestsPerMinute: parts.config().limits.augmentRequestsPerMinute } }),
		admit: (input, call) => admitSearch(input.body as SearchBody, call, parts),
	});
}

export type { SearchDeps } from "./search.ts";
