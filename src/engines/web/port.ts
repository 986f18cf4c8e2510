import type { Requester } from "../../fairness/index.ts";

/** Reading pages of the web: what routes and conversations hand in and get. */
export interface PageReader {
	/**
	 * A page, or a document behind an address, as Markdown.
	 * @param url what a caller gave: only hosts of the public internet are read
	 * @throws PageFault where the address gives no text; ApiError SERVICE_UNAVAILABLE where too much waits; what the
	 * requester's signal aborts with
	 */
	read(url: string, requester: Requester): Promise<WebPage>;
}

export interface WebPage {
	/** Where it came from, after redirects. */
	readonly url: string;
	/** "" where it has none. */
	readonly title: string;
	/** Markdown. */
	readonly content: string;
	/** When it was published, UTC, as in 2025-01-02T03:04:05; "" where the page does not say. */
	readonly date: string;
}

/**
 * Why an address gives no text. The text may go to the caller.
 * Codes: `url_*` as public-fetch names its faults; `file_*` as the reader of documents does; `page_refused` (a site that
 * forbids programs), `page_robots` (its robots.txt does), `page_empty`, `page_unsupported`, `page_too_costly`.
 */
export class PageFault extends Error {
	override readonly name = "PageFault";
	readonly code: string;

	constructor(code: string, message: string, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.code = code;
	}
}
