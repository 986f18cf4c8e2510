/**
 * POST /augment/scrape: a page's text as Markdown, or a 400 that says why there is none. Only a text is charged. Only
 * the public internet is reached. Pages are not stored.
 */
import { type Endpoint, metered } from "../../server/endpoint.ts";
import { ScrapeAnswerSchema, type ScrapeBody, ScrapeSchema } from "./schema.ts";
import { admitPage, type ScrapeDeps } from "./scrape.ts";

const MAX_BODY_BYTES = 65_536;

export function scrape(parts: ScrapeDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/augment/scrape",
		name: "scrape",
		tag: "Web",
		summary: "A page as Markdown",
		description:
			"Returns the article of a page, or the text of a document, at an address. If the site has its own Markdown, returns that.",
		openAi: false,
		callers: ["key", "wallet"],
		body: { schema: ScrapeSchema, maxBytes: MAX_BODY_BYTES },
		codes: ["SERVICE_UNAVAILABLE"],
		answer: { type: "application/json", schema: ScrapeAnswerSchema, description: "The page" },
		mayBeFree: () => parts.config().web.pricePerPageUsd === 0,
		minuteWindow: () => ({ subject: "scrape", limit: { requestsPerMinute: parts.config().limits.augmentRequestsPerMinute } }),
		admit: (input, call) => admitPage(input.body as ScrapeBody, call, parts),
	});
}

export type { ScrapeDeps } from "./scrape.ts";
