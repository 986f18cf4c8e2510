import type { ChargeLine } from "../../budgets/port.ts";
import { callPrice } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { oneLine, untrustedTexts } from "./untrusted-text.ts";
import { type PageAttempt, readPages, searchWeb, type WebDeps, type WebSource } from "./web-sources.ts";

/** What a conversation needs from the web. */
export interface WebRequest {
	/** Addresses in the user's latest message. If there are any they are read, and nothing is searched. */
	readonly urls: readonly string[];
	/** The search query; null: none. */
	readonly query: string | null;
	/** True: the model is asked to cite. */
	readonly cites: boolean;
	/** The model's context length; null: unknown. */
	readonly contextTokens: number | null;
}

/** The results from the web. */
export interface WebResults {
	/** Sources in the order of their numbers. */
	readonly sources: readonly WebSource[];
	/** The text for the model, placed before the user's text; null: none. */
	readonly text: string | null;
	/** The charge for the work done. */
	readonly lines: readonly ChargeLine[];
	/** False: no page was read and no search gave an answer. */
	readonly ran: boolean;
}

export const NO_WEB_RESULTS: WebResults = { sources: [], text: null, lines: [], ran: false };

type Prices = Pick<Config["web"], "pricePerPageUsd" | "pricePerSearchUsd">;

/** Returns the charge of a search that gave an answer. */
export function searchLine({ pricePerSearchUsd }: Prices): ChargeLine {
	return { sku: "chat-web-search-request", units: 1, picoPrice: callPrice(pricePerSearchUsd) };
}

/** Returns the charge of pages that gave a text. */
export function pagesLine({ pricePerPageUsd }: Prices, pages: number): ChargeLine {
	return { sku: "chat-web-page", units: pages, picoPrice: callPrice(pricePerPageUsd) };
}

/** Maximum number of characters of one search result, and of one page. */
const RESULT_CHARS = 2_000;
const PAGE_CHARS = 40_000;
const TOTAL_CHARS = 120_000;

/**
 * Reads pages, or searches. Failures are reported to the model, or left out, and cost nothing.
 * @throws the abort reason of the requester's signal
 */
export async function gatherWebResults(
	webRequest: WebRequest,
	deps: WebDeps,
	prices: Prices,
	requester: Requester,
): Promise<WebResults> {
	if (webRequest.urls.length > 0) return fromPages(await readPages(deps, webRequest.urls, requester), webRequest, prices);
	if (webRequest.query === null) return NO_WEB_RESULTS;
	const sources = await searchWeb(deps, webRequest.query, requester.signal);
	if (sources === null) return NO_WEB_RESULTS;
	const lines = [searchLine(prices)];
	if (sources.length === 0) return { sources, text: "A search of the web found nothing.", lines, ran: true };
	const prompted = sources.map((source) => ({ ...source, content: withoutTags(source.content) }));
	return { sources, text: promptOf(prompted, RESULT_CHARS, webRequest, "Results of a search of the web."), lines, ran: true };
}

function fromPages(attempts: readonly PageAttempt[], webRequest: WebRequest, prices: Prices): WebResults {
	const sources = attempts.flatMap(({ page }) => page ?? []);
	const faults = attempts.flatMap(({ url, fault }) => (fault === null ? [] : `- ${oneLine(url)}: ${oneLine(fault)}`));
	const pageTexts = sources.length === 0 ? [] : [promptOf(sources, PAGE_CHARS, webRequest, "Pages that the user names.")];
	const unread = faults.length === 0 ? [] : [`Addresses that could not be read:\n${faults.join("\n")}`];
	const text = [...pageTexts, ...unread].join("\n\n");
	const lines = sources.length === 0 ? [] : [pagesLine(prices, sources.length)];
	return { sources, text: text === "" ? null : text, lines, ran: sources.length > 0 };
}

function promptOf(sources: readonly WebSource[], maxChars: number, webRequest: WebRequest, heading: string): string {
	// A character is at most one token, with rare exceptions, and the conversation must fit as well.
	const maxTotalChars = Math.min(TOTAL_CHARS, webRequest.contextTokens ?? TOTAL_CHARS);
	const texts = sources.map(({ title, url, content, date }) => ({
		source: [title, `<${url}>`, date].filter((part) => part !== "").join(" "),
		text: content,
	}));
	return [heading, untrustedTexts(texts, { maxChars, maxTotalChars }), ...(webRequest.cites ? [CITE] : [])].join("\n\n");
}

const CITE =
	"Behind each statement that rests on one of these texts put its number between two signs ^, like ^1^; several like ^1,3^. Use no other numbers, and cite nothing else.";

/** Removes the tags with which providers mark the words of a query. */
function withoutTags(text: string): string {
	return text.replaceAll(/<\/?(?:strong|b|em|i|mark)>/gi, "");
}
