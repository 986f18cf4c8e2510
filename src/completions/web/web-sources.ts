import { PageFault, type PageReader } from "../../engines/web/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { SearchFault, type WebSearch } from "../../upstreams/search/port.ts";

/** What a conversation takes from the web; in the form of `web_search_citations`. */
export interface WebSource {
	readonly title: string;
	readonly url: string;
	readonly content: string;
	/** UTC without a zone; "" where it is not known. */
	readonly date: string;
}

/** What searches and reads for conversations. */
export interface WebDeps {
	readonly search: WebSearch;
	readonly pages: PageReader;
}

/** URLs of one request that are read; further ones are ignored. */
export const MAX_PAGES = 5;
const DEFAULT_RESULTS = 10;
const MAX_QUERY_CHARS = 400;

/**
 * Results for a query, as sources; null where no provider gave an answer, or none is set up: the conversation goes on
 * without them, and nothing is charged for it.
 * @param query cut to what a search takes
 * @throws what `signal` aborts with
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

/** One address that was asked for, and why it gave nothing where it did. */
export interface PageAttempt {
	readonly url: string;
	readonly page: WebSource | null;
	/** For the model: what is wrong with the address. Null where it was read. */
	readonly fault: string | null;
}

/**
 * Reads up to five pages at once, each within its own limits; one that fails takes nothing with it. Only pages that were
 * read are charged for.
 * @throws what `signal` aborts with
 */
export async function readPages(
	{ pages }: WebDeps,
	urls: readonly string[],
	requester: Requester,
): Promise<readonly PageAttempt[]> {
	const wanted = [...new Set(urls)].slice(0, MAX_PAGES);
	return Promise.all(
		wanted.map(async (url): Promise<PageAttempt> => {
			try {
				return { url, page: await pages.read(url, requester), fault: null };
			} catch (fault) {
				if (requester.signal.aborted || !(fault instanceof PageFault || fault instanceof ApiError)) throw fault;
				return { url, page: null, fault: fault.message };
			}
		}),
	);
}

/** The http(s) addresses in a text, in their order, each once; without the signs that end a sentence or a bracket. */
export function urlsIn(text: string): string[] {
	const found = new Set<string>();
	for (const [written] of text.matchAll(/https?:\/\/[^\s<>"'`\\^{|}]{1,4000}/gi)) {
		const url = withoutTail(written);
		if (URL.canParse(url)) found.add(url);
	}
	return [...found];
}

function withoutTail(url: string): string {
	let end = url.length;
	const unopened = new Map([
		[")", countOf(url, ")") - countOf(url, "(")],
		["]", countOf(url, "]") - countOf(url, "[")],
	]);
	for (; end > 0; end -= 1) {
		const last = url[end - 1] ?? "";
		const left = unopened.get(last) ?? 0;
		if (left > 0) unopened.set(last, left - 1);
		else if (!/[.,;:!?*_~]/.test(last)) break;
	}
	return url.slice(0, end);
}

const countOf = (text: string, sign: string): number => text.split(sign).length - 1;
