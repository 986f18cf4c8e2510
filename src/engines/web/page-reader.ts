import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { Clock } from "../../telemetry/clock.ts";
import { type PublicAnswer, type PublicFetch, PublicFetchFault } from "../../upstreams/public-fetch/port.ts";
import { plainDate } from "../../wire/plain-date.ts";
import type { DocumentReader } from "../documents/port.ts";
import { contentType, isMarkdown, markdownLink, pageKind } from "./page-kind.ts";
import type { PagePool } from "./page-pool.ts";
import { PageFault, type PageReader, type WebPage } from "./port.ts";
import { Robots } from "./robots.ts";

/** Executes a page's scripts and returns the resulting HTML. */
export interface ScriptedPages {
	html(url: string, requester: Requester): Promise<{ readonly url: string; readonly html: string }>;
}

export interface WebPageReaderOptions {
	readonly fetch: PublicFetch;
	readonly pages: PagePool;
	readonly documents: DocumentReader;
	/** null if the operator has none. */
	readonly scripted: ScriptedPages | null;
	readonly clock: Clock;
	readonly settings: () => WebPageSettings;
}

export interface WebPageSettings {
	readonly agentName: string;
	/** False: robots.txt is ignored. */
	readonly robots: boolean;
	/** Sites that are refused, with all their subdomains. */
	readonly refusedSites: readonly string[];
	/** The time limit for one page in all. */
	readonly pageMs: number;
	readonly maxPageMb: number;
}

const ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/pdf;q=0.7, */*;q=0.5";
const ACCEPT_MARKDOWN = "text/markdown, text/plain;q=0.9";

/** Reads pages and documents at addresses, within the rules of their sites. */
export class WebPageReader implements PageReader {
	readonly #options: WebPageReaderOptions;
	readonly #robots: Robots;

	constructor(options: WebPageReaderOptions) {
		this.#options = options;
		const { fetch, pages, clock } = options;
		this.#robots = new Robots({ fetch, pages, clock, agent: () => options.settings().agentName });
	}

	async read(url: string, { tenant, signal }: Requester): Promise<WebPage> {
		const { pageMs } = this.#options.settings();
		const end = new AbortController();
		const leave = () => end.abort(signal.reason);
		if (signal.aborted) leave();
		signal.addEventListener("abort", leave, { once: true });
		const late = new PageFault("url_timeout", `The page could not be read within ${pageMs / 1_000} s`);
		const timer = setTimeout(() => end.abort(late), pageMs);
		try {
			return await this.#read(url, { tenant, signal: end.signal });
		} catch (fault) {
			throw asPageFault(end.signal.aborted ? end.signal.reason : fault);
		} finally {
			clearTimeout(timer);
			signal.removeEventListener("abort", leave);
		}
	}

	async #read(url: string, requester: Requester): Promise<WebPage> {
		const answer = await this.#get(url, ACCEPT, requester);
		const { type, charset } = contentType(answer.headers.get("content-type"));
		const kind = pageKind(answer.bytes, type);
		if (kind === "media") throw new PageFault("page_unsupported", `The address leads to ${type}, not to text`);
		if (kind === "document") {
			const content = await this.#options.documents.read(answer.bytes, fileName(answer.url), requester);
			return { url: answer.url, title: "", content, date: "" };
		}
		if (kind === "text") {
			const page = await this.#options.pages.page({ bytes: answer.bytes, url: answer.url, charset, isHtml: false }, requester);
			return withText({ url: answer.url, title: page.title, content: page.content, date: "" });
		}
		return (await this.#siteOverview(answer.url, requester)) ?? (await this.#html(answer, charset, requester));
	}

	/** Reads the site's overview for programs, if the address is the site itself (llmstxt.org). */
	async #siteOverview(url: string, requester: Requester): Promise<WebPage | null> {
		const { pathname, search, origin } = new URL(url);
		if (pathname !== "/" || search !== "") return null;
		return this.#markdown(`${origin}/llms.txt`, requester);
	}

	async #html(answer: PublicAnswer, charset: string | null, requester: Requester): Promise<WebPage> {
		const { pages, scripted } = this.#options;
		const linked = markdownLink(answer.headers.get("link"));
		if (linked !== null) {
			const own = await this.#markdown(URL.parse(linked, answer.url)?.href ?? "", requester);
			if (own !== null) return own;
		}
		let { url } = answer;
		let page = await pages.page({ bytes: answer.bytes, url, charset, isHtml: true }, requester);
		const own = page.markdownUrl === null ? null : await this.#markdown(page.markdownUrl, requester);
		if (own !== null) return { ...own, title: own.title || page.title, date: plainDate(page.date) };
		if (page.needsScripts && scripted !== null) {
			const run = await scripted.html(url, requester);
			({ url } = run);
			page = await pages.page({ bytes: new TextEncoder().encode(run.html), url, charset: "utf-8", isHtml: true }, requester);
		}
		if (page.content.trim() === "" && page.needsScripts)
			throw new PageFault("page_empty", "The page has no text until its scripts run, and they are not run here");
		return withText({ url, title: page.title, content: page.content, date: plainDate(page.date) });
	}

	/** Reads the Markdown that a site offers beside a page; null if there is none of use. */
	async #markdown(url: string, requester: Requester): Promise<WebPage | null> {
		try {
			const answer = await this.#get(url, ACCEPT_MARKDOWN, requester);
			const { type, charset } = contentType(answer.headers.get("content-type"));
			if (!isMarkdown(type) && type !== "text/plain") return null;
			if (pageKind(answer.bytes, type) !== "text") return null;
			const page = await this.#options.pages.page({ bytes: answer.bytes, url: answer.url, charset, isHtml: false }, requester);
			return page.content.trim() === "" ? null : { url: answer.url, title: page.title, content: page.content, date: "" };
		} catch (fault) {
			requester.signal.throwIfAborted();
			const isOfPage = fault instanceof PublicFetchFault || fault instanceof PageFault;
			if (isOfPage || (fault instanceof ApiError && fault.code === "REQUEST_TIMEOUT")) return null;
			throw fault;
		}
	}

	#get(url: string, accept: string, requester: Requester): Promise<PublicAnswer> {
		const { pageMs, maxPageMb, robots } = this.#options.settings();
		return this.#options.fetch.read(url, {
			tenant: requester.tenant,
			signal: requester.signal,
			accept,
			totalMs: pageMs,
			maxBytes: maxPageMb * 2 ** 20,
			allow: async (address) => {
				this.#refuseSite(address);
				if (robots) await this.#robots.check(address, requester);
			},
		});
	}

	#refuseSite({ hostname }: URL): void {
		const host = hostname.replace(/\.$/, "");
		const refused = this.#options.settings().refusedSites.some((site) => host === site || host.endsWith(`.${site}`));
		if (refused) throw new PageFault("page_refused", `${host} forbids to be read by programs: it is not read here`);
	}
}

function withText(page: WebPage): WebPage {
	if (page.content.trim() !== "") return page;
	throw new PageFault("page_empty", "The page has no text");
}

/** Returns the last part of the path, which gives a document's type if its content does not. */
function fileName(url: string): string {
	return new URL(url).pathname.split("/").at(-1) ?? "";
}

function asPageFault(fault: unknown): unknown {
	if (fault instanceof PublicFetchFault && fault.kind === "busy")
		return new ApiError("SERVICE_UNAVAILABLE", { message: fault.message, retryAfterSeconds: 2 });
	if (fault instanceof PublicFetchFault)
		return new PageFault(`url_${fault.kind}`.replace("url_url", "url_invalid"), fault.message, fault.cause);
	if (fault instanceof ApiError && fault.code === "INVALID_REQUEST")
		return new PageFault(fault.options.issues?.[0]?.code ?? "page_unsupported", fault.message);
	return fault;
}
