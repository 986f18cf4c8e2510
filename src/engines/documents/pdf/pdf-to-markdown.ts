import { DocumentFault } from "../document-fault.ts";
import { MAX_PAGES } from "../limits.ts";
import { blocks } from "../markdown.ts";
import type { PageContent } from "./page-content.ts";
import { fontSizes, pageMarkdown } from "./page-markdown.ts";
import { Pdfium } from "./pdfium.ts";
import { readLaidOut, readPage } from "./read-page.ts";
import { rebuildXref } from "./rebuild-xref.ts";
import { renderPage } from "./render-page.ts";
import type { ReadScan, ScannedPage } from "./scan-reader.ts";
import { laidDown, withoutVerticalWriting } from "./vertical-writing.ts";

/** A page with fewer letters than this may be a scan: some carry a stamp or a page number as text. */
const SCAN_LETTERS = 16;
/** The number of scanned pages that are read: each takes seconds. */
const MAX_SCANS = 200;

const NO_PAGE: PageContent = {
	segments: [],
	verticalSegments: [],
	extras: [],
	letters: 0,
	isDrawnOn: false,
	leftOut: new Set(),
};

let library: Promise<Pdfium> | null = null;

/**
 * Converts a PDF (ISO 32000) to Markdown: columns in reading order, tables, headings, links, filled forms and notes; `readScan`
 * reads pages that are pictures.
 * @throws {DocumentFault}
 */
export async function pdfToMarkdown(bytes: Uint8Array, readScan: ReadScan | null): Promise<string> {
	library ??= Pdfium.load();
	const pdfium = await library;
	const pages = withVerticalText(pdfium, bytes, readPages(pdfium, bytes));
	if (pages.length === 0) throw new DocumentFault("empty", "The file has no pages");
	const scans = pages.flatMap((page, index) => (mayBeScan(page) ? [index] : []));
	const read = new Map<number, string>();
	if (readScan !== null)
		for (const index of scans.slice(0, MAX_SCANS)) {
			const picture = pictureOf(pdfium, bytes, index);
			if (picture !== null) read.set(index, await readScan(picture));
		}
	const sizes = fontSizes(pages);
	const text = blocks(pages.flatMap((page, index) => markdownOf(page, sizes, read.get(index) ?? "")));
	if (text === "" && readScan === null)
		throw new DocumentFault(
			"empty",
			"The file has no text: its pages are pictures, and no program that reads those is installed here",
		);
	return text;
}

/** Returns true if the page may be a scan. Text without letters has a font that does not map to them. */
function mayBeScan({ letters, isDrawnOn }: PageContent): boolean {
	return letters < SCAN_LETTERS && (isDrawnOn || letters === 0);
}

/** Returns the Markdown of a page; for a scan, text that both the scan and the page contain appears once. */
function markdownOf(page: PageContent, sizes: ReturnType<typeof fontSizes>, scanned: string): string[] {
	const letters = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
	const own = letters([...page.segments, ...page.verticalSegments].map(({ text }) => text).join(""));
	const isRead = scanned !== "" && letters(scanned).includes(own);
	return [...pageMarkdown(isRead ? { ...page, segments: [], verticalSegments: [] } : page, sizes), scanned];
}

function readPages(pdfium: Pdfium, bytes: Uint8Array): PageContent[] {
	return pdfium.withDocument(bytes, (document, form) => {
		const count = pdfium.call.FPDF_GetPageCount(document);
		if (count > MAX_PAGES) throw new DocumentFault("too-large", `The file has ${count} pages; ${MAX_PAGES} are the limit`);
		const pages: PageContent[] = [];
		for (let index = 0; index < count; index += 1) {
			const content = pdfium.withPage(document, form, index, (page) => readPage(pdfium, { document, form, page }));
			pages.push(content ?? NO_PAGE);
		}
		return pages;
	});
}

/** Adds vertical text that the library skips, by reading the pages that have any once more. */
function withVerticalText(pdfium: Pdfium, bytes: Uint8Array, pages: readonly PageContent[]): readonly PageContent[] {
	if (pages.every(({ leftOut }) => leftOut.size === 0)) return pages;
	// Fonts in object streams are only found after these are unpacked.
	const plain = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes("/ObjStm") ? rebuildXref(bytes) : null;
	const horizontal = withoutVerticalWriting(plain ?? bytes);
	if (horizontal === null) return pages;
	return pdfium.withDocument(horizontal, (document, form) =>
		pages.map((page, index) => {
			if (page.leftOut.size === 0) return page;
			const segments = pdfium.withPage(document, form, index, (open) => readLaidOut(pdfium, open, page.leftOut)) ?? [];
			const letters = segments.reduce((sum, { text }) => sum + text.length, page.letters);
			return { ...page, letters, verticalSegments: [...page.verticalSegments, ...segments.map(laidDown)] };
		}),
	);
}

function pictureOf(pdfium: Pdfium, bytes: Uint8Array, index: number): ScannedPage | null {
	return pdfium.withDocument(bytes, (document, form) =>
		pdfium.withPage(document, form, index, (page) => renderPage(pdfium, page)),
	);
}
