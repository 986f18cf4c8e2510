import type { Budgets } from "../../budgets/port.ts";
import { callPrice, unitsNano } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { type Admission, json } from "../../server/endpoint.ts";
import { flatPriced } from "../../server/flat-price.ts";
import { SearchFault, type WebSearch } from "../../upstreams/search/index.ts";
import { DEFAULT_PROVIDER, DEFAULT_RESULTS, type SearchBody } from "./schema.ts";

/** The dependencies of the search route. They are functions if a reload changes the result. */
export interface SearchDeps {
	readonly budgets: Budgets;
	readonly search: WebSearch;
	readonly config: () => Config;
}

/** Admits one search. Its price is held, and posted if a provider answered, even without results. */
export function admitSearch({ query, limit, search_provider }: SearchBody, call: Call, parts: SearchDeps): Admission {
	if (query.trim() === "") throw invalidField(["query"], "must have a word that is no space");
	if (parts.search.providers().length === 0) throw notConfigured();
	const { web, limits } = parts.config();
	const picoPrice = callPrice(web.pricePerSearchUsd);
	return flatPriced(call, {
		budgets: parts.budgets,
		window: "search",
		requestsPerMinute: limits.augmentRequestsPerMinute,
		line: { sku: "search-request", units: 1, picoPrice },
		priceNano: unitsNano(1, picoPrice),
		async work() {
			const searchQuery = { text: query, limit: limit ?? DEFAULT_RESULTS, prefer: search_provider ?? DEFAULT_PROVIDER };
			try {
				const { results } = await parts.search.search(searchQuery, call.signal);
				return json({ query, results });
			} catch (fault) {
				throw fault instanceof SearchFault ? searchError(fault) : fault;
			}
		},
	});
}

function searchError({ kind, message, retryAfterSeconds }: SearchFault): ApiError {
	if (kind === "not_configured") return notConfigured();
	const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
	return new ApiError(kind === "overloaded" ? "MODEL_OVERLOADED" : "INFERENCE_FAILED", { message, ...wait });
}

const notConfigured = () =>
	new ApiError("SERVICE_UNAVAILABLE", {
		message: "This service searches nowhere: its operator has to set web.search in turnpike.yaml",
	});
