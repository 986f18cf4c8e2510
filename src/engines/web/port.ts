import type { Requester } from "../../fairness/index.ts";

/** The interface that reads web pages for routes and conversations. */
export interface PageReader {
	/**
	 * Returns a page, or a document at an address, as Markdown.
	 * @param url from a caller: only hosts of the public internet are read
	 * @throws {PageFault} if the address gives no text; ApiError SERVICE_UNAVAILABLE if too many wait; the reason of the
	 * requester's signal
	 */
	read(url: string, requester: Requester): Promise<WebPage>;
}

export interface WebPage {
	/** The final address after redirects. */
	readonly url: string;
	/** "" if it has none. */
	readonly title: string;
	/** Markdown. */
	readonly content: string;
	/** The publication time in UTC, like 2025-01-02T03:04:05; "" if the page has none. */
	readonly date: string;
}

/**
 * Why an address gives no text. The message may be sent to the caller.
 * Codes: `url_*` from public-fetch; `file_*` from the document reader; `page_refused` (the site forbids programs),
 * `page_robots` (its robots.txt does), `page_empty`, `page_unsupported`, `page_too_costly`.
 */
export class PageFault extends Error {
	override readonly name = "PageFault";
	readonly code: string;

	constructor(code: string, message: string, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.code = code;
	}
}
