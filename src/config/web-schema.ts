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
	agentName: Type.String({
		pattern: PRODUCT_TOKEN,
		default: "Turnpike",
		description: "Name of the reader, in User-Agent and for robots.txt",
	}),
	contact: Type.Optional(
		Type.String({ pattern: CONTACT, description: "Contact in User-Agent: the address of a page, or mailto: and a mail address" }),
	),
	allowPrivateHosts: Type.Array(Type.String({ pattern: PLAIN_TEXT }), {
		default: [],
		description: "Private hosts that callers may read: host, or host:port",
	}),
	robots: Type.Boolean({ default: true, description: "false: robots.txt is ignored" }),
	refusedSites: Type.Array(Type.String({ pattern: PLAIN_TEXT }), {
		default: ["x.com", "twitter.com", "reddit.com"],
		description: "Sites that forbid reading by programs, including their subdomains",
	}),
	pricePerPageUsd: usdEach("USD for a page that gives a text"),
	pageMs: ms(20_000, "Time limit for one page in total"),
	maxPageMb: Type.Integer({
		minimum: 1,
		maximum: 100,
		default: 10,
		description: "Maximum size of a page, or of a document at an address",
	}),
	processes: Type.Integer({
		minimum: 1,
		maximum: 64,
		default: 1,
		description: "Pages that are converted to Markdown at the same time",
	}),
	maxMemoryMb: Type.Integer({
		minimum: 256,
		default: 768,
		description: "Above this, the work on a page is ended; all processes of its browser count together",
	}),
	chromium: Type.Optional(
		Type.String({
			pattern: PLAIN_TEXT,
			minLength: 1,
			description: "Path of a Chromium browser, for pages that are empty without scripts",
		}),
	),
	pricePerSearchUsd: usdEach("USD for an answered search"),
	pricePerXResultUsd: usdEach("USD for a result of a provider's own search of X; a request is charged for 20 at most"),
	searchMs: ms(10_000, "Time limit of each attempt of a search"),
	safeSearch: Type.Enum(["off", "moderate", "strict"], {
		default: "moderate",
		description: "How strictly adult results are left out",
	}),
	search: section({
		order: Type.Array(Type.Enum([...SEARCH_PROVIDERS]), {
			default: [...SEARCH_PROVIDERS],
			description: "Order of the search providers; if one fails, the next is asked",
		}),
		searxng: Type.Optional(
			closed({ url: Type.String({ pattern: HTTP_ADDRESS, description: "A SearXNG server with json among its search.formats" }) }),
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
