import { link } from "../markdown.ts";
import { type PageLink, readExtras, readLinks } from "./page-annotations.ts";
import type { Box, PageContent, Segment } from "./page-content.ts";
import type { Pdfium } from "./pdfium.ts";
import { type PlacedLetter, runsDown, turned } from "./vertical-writing.ts";

/** A gap of so many letter heights ends a segment. */
const WIDE_GAP = 1.3;
const HYPHEN_MARKS = new Set([0xfffe, 0x0002, 0x00ad]);
const LINE_END = new Set([0x0a, 0x0d]);
const BOLD = 600;
const MAX_CHARS = 2_000_000;

/** FPDF_PAGEOBJ_TEXT (public/fpdf_edit.h). */
const TEXT_OBJECT = 1;
/** Objects of a page that are looked at. */
const MAX_OBJECTS = 10_000;

/** PDFium's handles. */
export interface OpenPage {
	readonly document: number;
	readonly form: number;
	readonly page: number;
	/** Its vertical lines are laid out from left to right, and may lie upon each other. */
	readonly isLaidOut: boolean;
}

interface Draft {
	text: string;
	address: string | undefined;
	linkFrom: number;
	left: number;
	right: number;
	top: number;
	bottom: number;
	size: number;
	bold: boolean;
	hyphen: boolean;
	space: boolean;
}

/** Reads a page's text in the order of the file, with its links, form fields and notes. */
export function readPage(pdfium: Pdfium, { document, form, page, isLaidOut }: OpenPage): PageContent {
	const links = readLinks(pdfium, document, page);
	const extras = readExtras(pdfium, page, form);
	const isDrawnOn = drawnOn(pdfium, page);
	const { call } = pdfium;
	const textPage = call.FPDFText_LoadPage(page);
	if (textPage === 0) return { segments: [], extras, letters: 0, isDrawnOn };
	try {
		return pdfium.withMemory(64, (at) => {
			const builder = new SegmentBuilder(links, isLaidOut);
			const count = Math.min(MAX_CHARS, call.FPDFText_CountChars(textPage));
			const isVertical = runsDown(lettersOf(pdfium, textPage, count, at));
			for (let index = 0; index < count; index += 1) {
				const code = call.FPDFText_GetUnicode(textPage, index);
				if (LINE_END.has(code)) builder.end();
				else if (HYPHEN_MARKS.has(code)) builder.hyphen();
				else if (code <= 0x20 || code === 0xa0) builder.space();
				else {
					const box = charBox(pdfium, textPage, index, at);
					// A word's letters are of one size: each call of the library takes time.
					const size = builder.wordSize ?? letterHeight(pdfium, textPage, index, at);
					builder.add(
						{ code, box, shownAt: isVertical ? turned(fullBox(pdfium, textPage, index, at)) : box, size },
						() => call.FPDFText_GetFontWeight(textPage, index) >= BOLD,
					);
				}
			}
			builder.end();
			return { segments: builder.segments, extras, letters: builder.letters, isDrawnOn };
		});
	} finally {
		call.FPDFText_ClosePage(textPage);
	}
}

function* lettersOf(pdfium: Pdfium, textPage: number, count: number, at: number): Generator<PlacedLetter> {
	for (let index = 0; index < count; index += 1)
		yield { code: pdfium.call.FPDFText_GetUnicode(textPage, index), box: charBox(pdfium, textPage, index, at) };
}

interface Letter extends PlacedLetter {
	/** Where it stands among the others: vertical writing is turned. */
	readonly shownAt: Box;
	readonly size: number;
}

/** Joins characters to segments. */
class SegmentBuilder {
	readonly segments: Segment[] = [];
	letters = 0;
	readonly #links: readonly PageLink[];
	readonly #isLaidOut: boolean;
	#draft: Draft | null = null;

	constructor(links: readonly PageLink[], isLaidOut: boolean) {
		this.#links = links;
		this.#isLaidOut = isLaidOut;
	}

	/** The size of the letters of the word that is being read; null between words. */
	get wordSize(): number | null {
		return this.#draft === null || this.#draft.space ? null : this.#draft.size;
	}

	add({ code, box, shownAt, size }: Letter, bold: () => boolean): void {
		this.letters += 1;
		const draft = this.#draft;
		if (draft !== null && (partsFrom(draft, shownAt, size) || (this.#isLaidOut && shownAt.left < draft.right - size))) this.end();
		this.#draft ??= newDraft(shownAt, size, bold());
		addCharacter(this.#draft, code, shownAt, size, this.#links.find((link) => inside(link.box, box))?.address);
	}

	space(): void {
		if (this.#draft !== null) this.#draft.space = true;
	}

	hyphen(): void {
		if (this.#draft !== null) this.#draft.hyphen = true;
	}

	end(): void {
		if (this.#draft !== null && this.#draft.text.trim() !== "") this.segments.push(finished(this.#draft));
		this.#draft = null;
	}
}

function newDraft(box: Box, size: number, bold: boolean): Draft {
	return { text: "", address: undefined, linkFrom: 0, ...box, size, bold, hyphen: false, space: false };
}

/** A wide gap, a step back, or another line that the library took for the same: it does that behind a parted word. */
function partsFrom(draft: Draft, box: Box, size: number): boolean {
	const height = Math.max(draft.size, size);
	const gap = box.left - draft.right;
	if (draft.hyphen && box.left < draft.right - height) return true;
	const apart = Math.max(box.bottom - draft.top, draft.bottom - box.top);
	return gap > WIDE_GAP * height || box.right < draft.left - height || apart > 0.5 * height;
}

function addCharacter(draft: Draft, code: number, box: Box, size: number, address: string | undefined): void {
	if (draft.address !== address) {
		closeLink(draft);
		if (draft.space && draft.text !== "") draft.text += " ";
		draft.space = false;
		draft.address = address;
		draft.linkFrom = draft.text.length;
	}
	// A hyphen that was marked within a line is a sign like others.
	if (draft.hyphen) draft.text += "-";
	draft.hyphen = false;
	if (draft.space && draft.text !== "") draft.text += " ";
	draft.space = false;
	draft.text += code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
	draft.left = Math.min(draft.left, box.left);
	draft.right = Math.max(draft.right, box.right);
	draft.top = Math.max(draft.top, box.top);
	draft.bottom = Math.min(draft.bottom, box.bottom);
	draft.size = Math.max(draft.size, size);
}

function closeLink(draft: Draft): void {
	if (draft.address === undefined) return;
	draft.text = draft.text.slice(0, draft.linkFrom) + link(draft.text.slice(draft.linkFrom), draft.address);
	draft.address = undefined;
}

function finished(draft: Draft): Segment {
	closeLink(draft);
	const { left, right, top, bottom, size, bold, hyphen } = draft;
	return { text: draft.text.toWellFormed(), left, right, top, bottom, size, bold, hyphen };
}

function charBox(pdfium: Pdfium, textPage: number, index: number, at: number): Box {
	pdfium.call.FPDFText_GetCharBox(textPage, index, at, at + 8, at + 16, at + 24);
	return { left: pdfium.double(at), right: pdfium.double(at + 8), bottom: pdfium.double(at + 16), top: pdfium.double(at + 24) };
}

/** The whole of a letter's place, not only what is drawn in it: a full stop stands in a corner (FS_RECTF). */
function fullBox(pdfium: Pdfium, textPage: number, index: number, at: number): Box {
	pdfium.call.FPDFText_GetLooseCharBox(textPage, index, at);
	return { left: pdfium.float(at), top: pdfium.float(at + 4), right: pdfium.float(at + 8), bottom: pdfium.float(at + 12) };
}

/** The font's size as the page shows it: many files write text of size 1 through a matrix. */
function letterHeight(pdfium: Pdfium, textPage: number, index: number, at: number): number {
	const size = pdfium.call.FPDFText_GetFontSize(textPage, index);
	if (pdfium.call.FPDFText_GetMatrix(textPage, index, at) === 0) return size;
	const scale = Math.hypot(pdfium.float(at + 8), pdfium.float(at + 12));
	return Math.max(1, size * (scale > 0 ? scale : 1));
}

const inside = (outer: Box, inner: Box): boolean => {
	const x = (inner.left + inner.right) / 2;
	const y = (inner.top + inner.bottom) / 2;
	return x >= outer.left && x <= outer.right && y >= outer.bottom && y <= outer.top;
};

function drawnOn({ call }: Pdfium, page: number): boolean {
	const count = Math.min(MAX_OBJECTS, call.FPDFPage_CountObjects(page));
	for (let index = 0; index < count; index += 1)
		if (call.FPDFPageObj_GetType(call.FPDFPage_GetObject(page, index)) !== TEXT_OBJECT) return true;
	return false;
}
