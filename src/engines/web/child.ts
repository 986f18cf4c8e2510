/** The process that converts pages to Markdown: hostile pages take its time and memory, never the server's. */
import robotsParser from "robots-parser";
import { serveParent } from "../child-side.ts";
import { DocumentFault } from "../documents/document-fault.ts";
import { decodePage } from "./decode-page.ts";
import { readHtml } from "./html-page.ts";
import type { ReadPage, WebDone, WebJob } from "./page-work.ts";

let working = false;

serveParent({
	start: async () => null,
	async work(work) {
		const { id, ...job } = work as WebJob & { readonly id: number };
		working = true;
		try {
			return done(id, job as WebJob);
		} finally {
			working = false;
		}
	},
	busy: () => working,
});

function done(id: number, job: WebJob): WebDone {
	if (job.kind === "robots") {
		// Undefined means that the rules do not mention the address.
		const rules = robotsParser(job.rulesUrl, unescaped(job.rules));
		return { id, isAllowed: rules.isAllowed(unescaped(job.url), job.agent) ?? true };
	}
	try {
		const page = readPage(decodePage(job.bytes, job.charset, job.isHtml), job.url, job.isHtml);
		return { id, page: { ...page, title: clean(page.title), content: clean(page.content) } };
	} catch (fault) {
		if (fault instanceof DocumentFault) return { id, fault: "The address leads to something that is not text" };
		throw fault;
	}
}

/** Unescapes characters that need no escape, for the comparison of both texts (RFC 9309, 2.2.2). */
const unescaped = (text: string): string =>
	text.replaceAll(/%(?:3\d|[46][1-9a-f]|[57][0-9a]|2[de]|5f|7e)/gi, (written) => decodeURIComponent(written));

function readPage(text: string, url: string, isHtml: boolean): ReadPage {
	if (isHtml) return readHtml(text, url);
	const title = /^# (.+)$/m.exec(text.slice(0, 4_096))?.[1]?.trim() ?? "";
	return { title, content: text, date: "", markdownUrl: null, needsScripts: false };
}

/** Removes zero bytes, marks and lone surrogates, and unifies line ends. */
const clean = (text: string): string =>
	text
		.replaceAll(/\r\n?/g, "\n")
		.replaceAll(/[\0\ufeff]/g, "")
		.toWellFormed();
