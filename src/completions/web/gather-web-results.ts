import type { ChargeLine } from "../../budgets/port.ts";
import { callPrice } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { oneLine, untrustedTexts } from "./untrusted-text.ts";
import { type PageAttempt, readPages, searchWeb, type WebDeps, type WebSource } from "./web-sources.ts";

/** What a conversation asks of the web. */
export interface WebRequest {
	/** Addresses that the latest message of the user names: where there are any, they are read, and nothing is searched. */
	readonly urls: readonly string[];
	/** What is searched for; null: nothing. */
	readonly query: string | null;
	/** The model is asked to cite. */
	readonly cites: boolean;
	/** What the model can read; null: not known. */
	readonly contextTokens: number | null;
}

/** What the web gave. */
export interface WebResults {
	/** In the order of their numbers. */
	readonly sources: readonly WebSource[];
	/** What the model is told, before what the user says; null: nothing. */
	readonly text: string | null;
	/** What ran. */
	readonly lines: readonly ChargeLine[];
	/** False: nothing was read and no search gave an answer. */
	readonly ran: boolean;
}

export const NOTHING_FOUND: WebResults = { sources: [], text: null, lines: [], ran: false };

type Prices = Pick<Config["web"], "pricePerPageUsd" | "pricePerSearchUsd">;

/** The charge of a search that was answered. */
export function searchLine({ pricePerSearchUsd }: Prices): ChargeLine {
	return { sku: "chat-web-search-request", units: 1, picoPrice: callPrice(pricePerSearchUsd) };
}

/** The charge of pages that gave a text. */
export function pagesLine({ pricePerPageUsd }: Prices, pages: number): ChargeLine {
	return { sku: "chat-web-page", units: pages, picoPrice: callPrice(pricePerPageUsd) };
}

/** Characters of one search result, and of one page. */
const RESULT_CHARS = 2_000;
const PAGE_CHARS = 40_000;
const TOTAL_CHARS = 120_000;

/** Reads, or searches. What fails is told to the model, or left out, and costs nothing. @throws what the requester's signal aborts with */
export async function gatherWebResults(
	wanted: WebRequest,
	deps: WebDeps,
	prices: Prices,
	requester: Requester,
): Promise<WebResults> {
	if (wanted.urls.length > 0) return fromPages(await readPages(deps, wanted.urls, requester), wanted, prices);
	if (wanted.query === null) return NOTHING_FOUND;
	const sources = await searchWeb(deps, wanted.query, requester.signal);
	if (sources === null) return NOTHING_FOUND;
	const lines = [searchLine(prices)];
	if (sources.length === 0) return { sources, text: "A search of the web found nothing.", lines, ran: true };
	const shown = sources.map((source) => ({ ...source, content: withoutTags(source.content) }));
	return { sources, text: promptOf(shown, RESULT_CHARS, wanted, "Results of a search of the web."), lines, ran: true };
}

function fromPages(tried: readonly PageAttempt[], wanted: WebRequest, prices: Prices): WebResults {
	const sources = tried.flatMap(({ page }) => page ?? []);
	const faults = tried.flatMap(({ url, fault }) => (fault === null ? [] : `- ${oneLine(url)}: ${oneLine(fault)}`));
	const read = sources.length === 0 ? [] : [promptOf(sources, PAGE_CHARS, wanted, "Pages that the user names.")];
	const unread = faults.length === 0 ? [] : [`Addresses that could not be read:\n${faults.join("\n")}`];
	const text = [...read, ...unread].join("\n\n");
	const lines = sources.length === 0 ? [] : [pagesLine(prices, sources.length)];
	return { sources, text: text === "" ? null : text, lines, ran: sources.length > 0 };
}

function promptOf(sources: readonly WebSource[], maxChars: number, wanted: WebRequest, heading: string): string {
	// A character is a token at most, but for rare ones: beside these the conversation has to fit as well.
	const maxTotalChars = Math.min(TOTAL_CHARS, wanted.contextTokens ?? TOTAL_CHARS);
	const texts = sources.map(({ title, url, content, date }) => ({
		source: [title, `<${url}>`, date].filter((part) => part !== "").join(" "),
		text: content,
	}));
	return [heading, untrustedTexts(texts, { maxChars, maxTotalChars }), ...(wanted.cites ? [CITE] : [])].join("\n\n");
}

const CITE =
	"Behind each statement that rests on one of these texts put its number between two signs ^, like ^1^; several like ^1,3^. Use no other numbers, and cite nothing else.";

/** What providers mark the words of a query with. */
function withoutTags(text: string): string {
	return text.replaceAll(/<\/?(?:strong|b|em|i|mark)>/gi, "");
}
