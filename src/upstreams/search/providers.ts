import type { Config } from "../../config/index.ts";
import type { ResultPageRequest, SearchProvider } from "./provider.ts";
import { list, member, resultList, searchResult } from "./search-results.ts";

type SearchConfig = Config["web"]["search"];
type Section<Name extends keyof SearchConfig> = NonNullable<SearchConfig[Name]>;

const JSON_ONLY = { accept: "application/json" };
/** Google returns at most ten results per page, and Brave accepts at most 50 words. */
const GOOGLE_PAGE = 10;
const BRAVE_WORDS = 50;
const EXCERPT_CHARS = 1_000;

/** Returns the configured providers in their order. */
export function configuredProviders(config: SearchConfig): SearchProvider[] {
	const makers = {
		searxng: () => config.searxng && searxng(config.searxng),
		brave: () => config.brave && brave(config.brave),
		google: () => config.google && google(config.google),
		tavily: () => config.tavily && tavily(config.tavily),
		exa: () => config.exa && exa(config.exa),
	};
	return [...new Set(config.order)].flatMap((name) => makers[name]() ?? []);
}

function address(base: string, query: Readonly<Record<string, string>>): string {
	const url = new URL(base);
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
	return url.href;
}

/** Source: docs.searxng.org/dev/search_api.html */
function searxng({ url }: Section<"searxng">): SearchProvider {
	const levels = { off: "0", moderate: "1", strict: "2" };
	return {
		name: "searxng",
		maxPages: 2,
		secret: null,
		request: ({ text, page, safe }: ResultPageRequest) => ({
			url: address(`${url.replace(/\/+$/, "")}/search`, {
				q: text,
				format: "json",
				pageno: String(page),
				safesearch: levels[safe],
			}),
			method: "GET",
			headers: JSON_ONLY,
		}),
		results(answer) {
			const results = resultList(answer, member(answer, "results"));
			const silent = member(answer, "unresponsive_engines");
			if (results.length === 0 && Array.isArray(silent) && silent.length > 0) throw new Error("none of its engines answered");
			return results.flatMap(({ title, url, content, publishedDate }) => searchResult(title, url, content, publishedDate));
		},
	};
}

/** Source: api-dashboard.search.brave.com/api-reference/web/search */
function brave({ url, key }: Section<"brave">): SearchProvider {
	return {
		name: "brave",
		maxPages: 1,
		secret: key,
		request: ({ text, limit, safe }) => ({
			url: address(url, { q: text.split(/\s+/).slice(0, BRAVE_WORDS).join(" "), count: String(limit), safesearch: safe }),
			method: "GET",
			headers: { ...JSON_ONLY, "x-subscription-token": key },
		}),
		results: (answer) =>
			resultList(answer, member(member(answer, "web"), "results"), true).flatMap(({ title, url, description, page_age }) =>
				searchResult(title, url, description, page_age),
			),
	};
}

/** Source: developers.google.com/custom-search/v1/reference/rest/v1/cse/list */
function google({ url, key, engine }: Section<"google">): SearchProvider {
	return {
		name: "google",
		maxPages: 2,
		secret: key,
		request: ({ text, limit, page, safe }) => ({
			url: address(url, {
				key,
				cx: engine,
				q: text,
				num: String(Math.min(limit, GOOGLE_PAGE)),
				start: String((page - 1) * GOOGLE_PAGE + 1),
				safe: safe === "off" ? "off" : "active",
			}),
			method: "GET",
			headers: JSON_ONLY,
		}),
		results: (answer) =>
			resultList(answer, member(answer, "items"), true).flatMap(({ title, link, htmlSnippet, snippet, pagemap }) => {
				const [tags] = list(member(pagemap, "metatags"));
				return searchResult(title, link, htmlSnippet ?? snippet, tags?.["article:published_time"]);
			}),
	};
}

/** Source: docs.tavily.com/documentation/api-reference/endpoint/search */
function tavily({ url, key }: Section<"tavily">): SearchProvider {
	return {
		name: "tavily",
		maxPages: 1,
		secret: key,
		request: ({ text, limit }) => ({
			url,
			method: "POST",
			headers: { ...JSON_ONLY, authorization: `Bearer ${key}` },
			body: { query: text, max_results: limit, search_depth: "basic" },
		}),
		results: (answer) =>
			resultList(answer, member(answer, "results")).flatMap(({ title, url, content, published_date }) =>
				searchResult(title, url, content, published_date),
			),
	};
}

/** Source: docs.exa.ai/reference/search */
function exa({ url, key }: Section<"exa">): SearchProvider {
	return {
		name: "exa",
		maxPages: 1,
		secret: key,
		request: ({ text, limit, safe }) => ({
			url,
			method: "POST",
			headers: { ...JSON_ONLY, "x-api-key": key },
			body: {
				query: text,
				type: "auto",
				numResults: limit,
				moderation: safe !== "off",
				contents: { text: { maxCharacters: EXCERPT_CHARS } },
			},
		}),
		results: (answer) =>
			resultList(answer, member(answer, "results")).flatMap(({ title, url, text, publishedDate }) =>
				searchResult(title, url, text, publishedDate),
			),
	};
}
