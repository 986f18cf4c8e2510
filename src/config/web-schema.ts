import Type, { type TProperties } from "typebox";
import { closed } from "../schema/closed.ts";
import { CONTACT, HEADER_VALUE, HTTP_ADDRESS, LEAST_USD, ms, PLAIN_TEXT, PRODUCT_TOKEN, price, section } from "./schema-types.ts";

const SEARCH_PROVIDERS = ["searxng", "brave", "google", "tavily", "exa"] as const;
const usdEach = (description: string) => price({ maximum: 1_000, least: LEAST_USD, default: 0.01, description });
/** A search provider that needs a key. */
const keyed = <T extends TProperties>(url: string, more: T, description: string) =>
	Type.Optional(
		closed(
			{
				key: Type.String({ pattern: HEADER_VALUE, minLength: 1 }),
				url: Type.String({ pattern: HTTP_ADDRESS, default: url }),
				...more,
			},
			description,
		),
	);

/** Pages and searches (docs/web.md). */
export const WebSchema = section({
	agentName: Type.String({ pattern: PRODUCT_TOKEN, default: "Turnpike", description: "Who reads, in User-Agent and robots.txt" }),
	contact: Type.Optional(
		Type.String({ pattern: CONTACT, description: "In User-Agent: an address of a page, or mailto: and an address of mail" }),
	),
	allowPrivateHosts: Type.Array(Type.String({ pattern: PLAIN_TEXT }), {
		default: [],
		description: "Hosts that callers may have read though they are private: host, or host:port",
	}),
	robots: Type.Boolean({ default: true, description: "false: pages are read whatever robots.txt says" }),
	refusedSites: Type.Array(Type.String({ pattern: PLAIN_TEXT }), {
		default: ["x.com", "twitter.com", "reddit.com"],
		description: "Sites that forbid to be read by programs, with all below them",
	}),
	pricePerPageUsd: usdEach("USD for a page that gave a text"),
	pageMs: ms(20_000, "Reading one page, all in all"),
	maxPageMb: Type.Integer({ minimum: 1, maximum: 100, default: 10, description: "Of a page, or a document behind an address" }),
	processes: Type.Integer({ minimum: 1, maximum: 64, default: 1, description: "Pages that are turned into Markdown at once" }),
	maxMemoryMb: Type.Integer({
		minimum: 256,
		default: 768,
		description: "Above it the work on a page is ended; all processes of its browser count together",
	}),
	chromium: Type.Optional(
		Type.String({
			pattern: PLAIN_TEXT,
			minLength: 1,
			description: "Path of a Chromium, for pages that are empty without scripts",
		}),
	),
	pricePerSearchUsd: usdEach("USD for a search that was answered"),
	pricePerXResultUsd: usdEach("USD for a result of a provider's own search of X; 20 at most are charged for a request"),
	searchMs: ms(10_000, "Each try of a search"),
	safeSearch: Type.Enum(["off", "moderate", "strict"], { default: "moderate", description: "Leaves out adult results" }),
	search: section({
		order: Type.Array(Type.Enum([...SEARCH_PROVIDERS]), {
			default: [...SEARCH_PROVIDERS],
			description: "Who is asked first; the next one is asked where one fails",
		}),
		searxng: Type.Optional(
			closed({ url: Type.String({ pattern: HTTP_ADDRESS, description: "A SearXNG with json among its search.formats" }) }),
		),
		brave: keyed("https://api.search.brave.com/res/v1/web/search", {}, "Brave Search"),
		google: keyed(
			"https://www.googleapis.com/customsearch/v1",
			{ engine: Type.String({ minLength: 1, description: "The search engine's id (cx)" }) },
			"Google Programmable Search",
		),
		tavily: keyed("https://api.tavily.com/search", {}, "Tavily"),
		exa: keyed("https://api.exa.ai/search", {}, "Exa"),
	}),
});
