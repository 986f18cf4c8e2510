/**
 * Search providers as their documentation describes them: docs.searxng.org/dev/search_api.html, Brave's web search,
 * Google's cse.list, Tavily's and Exa's POST /search. A request that they would refuse gets the status that they give.
 */
import type { Config } from "../../src/config/index.ts";

export const SEARCH_KEY = "search-key-1";
const ENGINE = "engine-1";

export interface ScriptedSearch {
	/** A `web.search` section with all five, in this order. */
	section(order: Config["web"]["search"]["order"]): Config["web"]["search"];
	/** Requests of each provider: its query, as the provider understood it. */
	readonly requests: { readonly provider: string; readonly query: Readonly<Record<string, unknown>> }[];
	/** Provider -> an answer in the place of results. */
	readonly broken: Map<string, () => Response | Promise<Response>>;
	/** How many results there are to be found. */
	total: number;
	stop(): Promise<void>;
}

const item = (index: number) => ({ title: `Tea ${index}`, url: `https://tea.example/${index}` });

export function startScriptedSearch(): ScriptedSearch {
	const page = (from: number, count: number) =>
		Array.from({ length: Math.max(0, Math.min(count, search.total - from)) }, (_, index) => item(from + index));
	const routes: Record<string, (request: Request, query: Record<string, unknown>) => Response> = {
		searxng: (_, { q, format, pageno }) => {
			if (!q) return new Response("no query", { status: 400 });
			if (format !== "json") return new Response("forbidden", { status: 403 });
			const results = page((Number(pageno) - 1) * 10, 10).map((result) => ({
				...result,
				content: "about tea",
				publishedDate: "2025-01-02T03:04:05",
				engine: "duckduckgo",
			}));
			return Response.json({ query: q, results, unresponsive_engines: [] });
		},
		brave: (request, { q, count, safesearch }) => {
			if (request.headers.get("x-subscription-token") !== SEARCH_KEY) return new Response("{}", { status: 401 });
			const tooMuch = String(q).length > 400 || String(q).split(/\s+/).length > 50 || Number(count) > 20;
			if (tooMuch || !["off", "moderate", "strict"].includes(String(safesearch))) return new Response("{}", { status: 422 });
			const results = page(0, Number(count)).map((result) => ({
				...result,
				description: "about <strong>tea</strong>",
				page_age: "2025-01-02T03:04:05",
				age: "January 2, 2025",
			}));
			return Response.json({ type: "search", query: { original: q }, web: { type: "search", results } });
		},
		google: (_, { key, cx, num, start, safe }) => {
			if (key !== SEARCH_KEY) return Response.json({ error: { code: 400, message: "API key not valid" } }, { status: 400 });
			if (cx !== ENGINE || Number(num) > 10 || Number(num) < 1 || Number(start) > 91 || !["active", "off"].includes(String(safe)))
				return Response.json({ error: { code: 400, message: "Request contains an invalid argument." } }, { status: 400 });
			const items = page(Number(start) - 1, Number(num)).map(({ title, url }) => ({
				kind: "customsearch#result",
				title,
				link: url,
				snippet: "about tea",
				htmlSnippet: "about <b>tea</b>",
				pagemap: { metatags: [{ "article:published_time": "2025-01-02T03:04:05Z" }] },
			}));
			return Response.json({ kind: "customsearch#search", ...(items.length === 0 ? {} : { items }) });
		},
		tavily: (request, { query, max_results }) => {
			if (request.headers.get("authorization") !== `Bearer ${SEARCH_KEY}`) return Response.json({}, { status: 401 });
			if (typeof max_results !== "number" || max_results > 20) return Response.json({}, { status: 400 });
			const results = page(0, max_results).map((result) => ({ ...result, content: "about tea", score: 0.9, raw_content: null }));
			return Response.json({ query, answer: null, images: [], results, response_time: 1.1 });
		},
		exa: (request, { numResults, type }) => {
			if (request.headers.get("x-api-key") !== SEARCH_KEY) return Response.json({}, { status: 401 });
			if (typeof numResults !== "number" || numResults > 100 || type !== "auto") return Response.json({}, { status: 400 });
			const results = page(0, numResults).map((result) => ({
				...result,
				id: result.url,
				text: "about tea",
				publishedDate: "2025-01-02T03:04:05.000Z",
				author: null,
			}));
			return Response.json({ requestId: "r1", results });
		},
	};
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		async fetch(request) {
			const url = new URL(request.url);
			const [, provider = "", path] = url.pathname.split("/");
			const expectedMethod = provider === "searxng" || provider === "brave" || provider === "google" ? "GET" : "POST";
			if (request.method !== expectedMethod || (provider === "searxng" && path !== "search"))
				return new Response("", { status: 405 });
			const query: Record<string, unknown> =
				expectedMethod === "GET" ? Object.fromEntries(url.searchParams) : ((await request.json()) as Record<string, unknown>);
			search.requests.push({ provider, query });
			return search.broken.get(provider)?.() ?? routes[provider]?.(request, query) ?? new Response("", { status: 404 });
		},
	});
	const url = (provider: string) => `http://127.0.0.1:${server.port}/${provider}`;
	const search: ScriptedSearch = {
		requests: [],
		broken: new Map(),
		total: 50,
		section: (order) => ({
			order,
			searxng: { url: url("searxng") },
			brave: { url: url("brave"), key: SEARCH_KEY },
			google: { url: url("google"), key: SEARCH_KEY, engine: ENGINE },
			tavily: { url: url("tavily"), key: SEARCH_KEY },
			exa: { url: url("exa"), key: SEARCH_KEY },
		}),
		stop: () => server.stop(true),
	};
	return search;
}
