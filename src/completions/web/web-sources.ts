import { PageFault, type PageReader } from "../../engines/web/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { SearchFault, type WebSearch } from "../../upstreams/search/port.ts";

/** A source from the web, in the form of `web_search_citations`. */
export interface WebSource {
	readonly title: string;
	readonly url: string;
	readonly content: string;
	/** Date in UTC without a zone; "" if it is unknown. */
	readonly date: string;
}

/** The dependencies that search and read for conversations. */
export interface WebDeps {
	readonly search: WebSearch;
	readonly pages: PageReader;
}

/** Maximum number of URLs of one request that are read; further ones are ignored. */
export const MAX_PAGES = 5;
const DEFAULT_RESULTS = 10;
const MAX_QUERY_CHARS = 400;

/**
 * Returns results for a query, as sources; null if no provider gave an answer, or none is set up. The conversation
 * then continues without them, and nothing is charged for it.
 * @param query cut to the maximum of a search
 * @throws the abort reason of `signal`
 */
export async function searchWeb(
	{ search }: WebDeps,
	query: string,
	signal: AbortSignal,
	limit = DEFAULT_RESULTS,
): Promise<readonly WebSource[] | null> {
	const text = query.replaceAll(/\s+/g, " ").trim().slice(0, MAX_QUERY_CHARS).toWellFormed();
	if (text === "") return null;
	try {
		return (await search.search({ text, limit }, signal)).results;
	} catch (fault) {
		if (fault instanceof SearchFault) return null;
		throw fault;
	}
}

/** One requested address, with its fault if it gave nothing. */
export interface PageAttempt {
	readonly url: string;
	readonly page: WebSource | null;
	/** What is wrong with the address, for the model; null if it was read. */
	readonly fault: string | null;
}

/**
 * Reads up to five pages at once, each within its own limits; a failing page affects no other. Only pages that were
 * read are charged.
 * @throws the abort reason of `signal`
 */
export async function readPages(
	{ pages }: WebDeps,
	urls: readonly string[],
	requester: Requester,
): Promise<readonly PageAttempt[]> {
	const requested = [...new Set(urls)].slice(0, MAX_PAGES);
	return Promise.all(
		requested.map(async (url): Promise<PageAttempt> => {
			try {
				return { url, page: await pages.read(url, requester), fault: null };
			} catch (fault) {
				if (requester.signal.aborted || !(fault instanceof PageFault || fault instanceof ApiError)) throw fault;
				return { url, page: null, fault: fault.message };
			}
		}),
	);
}

/** Returns the distinct http(s) addresses in a text in order, without the signs that end a sentence or a bracket. */
export function urlsIn(text: string): string[] {
	const urls = new Set<string>();
	for (const [written] of text.matchAll(/https?:\/\/[^\s<>"'`\\^{|}]{1,4000}/gi)) {
		const url = withoutTail(written);
		if (URL.canParse(url)) urls.add(url);
	}
	return [...urls];
}

function withoutTail(url: string): string {
	let end = url.length;
	const unopened = new Map([
		[")", countOf(url, ")") - countOf(url, "(")],
		["]", countOf(url, "]") - countOf(url, "[")],
	]);
	for (; end > 0; end -= 1) {
		const last = url[end - 1] ?? "";
		const unclosed = unopened.get(last) ?? 0;
		if (unclosed > 0) unopened.set(last, unclosed - 1);
		else if (!/[.,;:!?*_~]/.test(last)) break;
	}
	return url.slice(0, end);
}

const countOf = (text: string, sign: string): number => text.split(sign).length - 1;
