import { link } from "../markdown.ts";
import { type PageLink, readExtras, readLinks } from "./page-annotations.ts";
import type { Box, PageContent, Segment } from "./page-content.ts";
import { pageObjects, textObjects } from "./page-objects.ts";
import type { Pdfium } from "./pdfium.ts";
import { isEastAsian, linesRunDown, type PlacedLetter, turned } from "./vertical-writing.ts";

/** A gap of so many letter heights ends a segment. */
const WIDE_GAP = 1.3;
const HYPHEN_MARKS = new Set([0xfffe, 0x0002, 0x00ad]);
const LINE_END = new Set([0x0a, 0x0d]);
const SPACE = 0x20;
const HYPHEN = 0xad;
const BOLD = 600;
const MAX_CHARS = 2_000_000;

/** PDFium's handles. */
export interface OpenPage {
	readonly document: number;
	readonly form: number;
	readonly page: number;
}

/** A page's text in the library, and memory for its results. */
interface PageText {
	readonly pdfium: Pdfium;
	readonly textPage: number;
	readonly at: number;
}

/** A letter by its index in the page's text, or a mark: a space, or a hyphen at the end of a line. */
interface PageSign extends PlacedLetter {
	readonly index: number;
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
export function readPage(pdfium: Pdfium, { document, form, page }: OpenPage): PageContent {
	const links = readLinks(pdfium, document, page);
	const none = {
		segments: [],
		verticalSegments: [],
		extras: readExtras(pdfium, page, form),
		letters: 0,
		...pageObjects(pdfium, page),
	};
	return withText<PageContent>(pdfium, page, none, (text) => {
		const across = new SegmentBuilder(links, false);
		const down = new SegmentBuilder(links, false);
		// Horizontal text is added line by line, because its letters take more memory than its words.
		if (!hasEastAsian(text)) for (const line of linesOf(text)) addLine(text, line, across, false);
		else {
			const lines = [...linesOf(text)];
			const runDown = linesRunDown(lines.map((line) => line.filter(isLetter)));
			for (const [index, line] of lines.entries()) addLine(text, line, runDown[index] ? down : across, runDown[index] === true);
		}
		const letters = across.letters + down.letters;
		return { ...none, segments: across.segments, verticalSegments: down.segments, letters };
	});
}

/** Reads the text of some of a page's objects, each laid out from left to right and possibly overlapping. */
export function readLaidOut(pdfium: Pdfium, page: number, objects: ReadonlySet<number>): Segment[] {
	let place = 0;
	const textHandles = new Set<number>();
	for (const object of textObjects(pdfium, page)) if (objects.has(place++)) textHandles.add(object);
	return withText<Segment[]>(pdfium, page, [], (text) => {
		const builder = new SegmentBuilder([], true);
		const belongs = (sign: PageSign) =>
			!isLetter(sign) || textHandles.has(pdfium.call.FPDFText_GetTextObject(text.textPage, sign.index));
		for (const line of linesOf(text)) addLine(text, line.filter(belongs), builder, false);
		return builder.segments;
	});
}

function withText<T>(pdfium: Pdfium, page: number, none: T, use: (text: PageText) => T): T {
	const textPage = pdfium.call.FPDFText_LoadPage(page);
	if (textPage === 0) return none;
	try {
		return pdfium.withMemory(64, (at) => use({ pdfium, textPage, at }));
	} finally {
		pdfium.call.FPDFText_ClosePage(textPage);
	}
}

const NOWHERE: Box = { left: 0, right: 0, top: 0, bottom: 0 };
const isLetter = ({ code }: PageSign): boolean => code !== SPACE && code !== HYPHEN;

const lengthOf = ({ pdfium, textPage }: PageText): number => Math.min(MAX_CHARS, pdfium.call.FPDFText_CountChars(textPage));

function hasEastAsian(text: PageText): boolean {
	const { call } = text.pdfium;
	const count = lengthOf(text);
	for (let index = 0; index < count; index += 1) if (isEastAsian(call.FPDFText_GetUnicode(text.textPage, index))) return true;
	return false;
}

/** Yields the lines of a page as the library splits them. */
function* linesOf(text: PageText): Generator<PageSign[]> {
	const { pdfium, textPage, at } = text;
	const count = lengthOf(text);
	let line: PageSign[] = [];
	for (let index = 0; index < count; index += 1) {
		const code = pdfium.call.FPDFText_GetUnicode(textPage, index);
		if (LINE_END.has(code)) {
			if (line.length > 0) yield line;
			line = [];
		} else if (HYPHEN_MARKS.has(code)) line.push({ code: HYPHEN, box: NOWHERE, index });
		else if (code <= SPACE || code === 0xa0) line.push({ code: SPACE, box: NOWHERE, index });
		else line.push({ code, box: charBox(pdfium, textPage, index, at), index });
	}
	if (line.length > 0) yield line;
}

function addLine(
	{ pdfium, textPage, at }: PageText,
	line: readonly PageSign[],
	builder: SegmentBuilder,
	runsDown: boolean,
): void {
	for (const { index, code, box } of line) {
		if (code === HYPHEN) builder.hyphen();
		else if (code === SPACE) builder.space();
		else {
			// A word's letters have one size, which saves calls of the library.
			const size = builder.wordSize ?? letterHeight(pdfium, textPage, index, at);
			const shownAt = runsDown ? turned(fullBox(pdfium, textPage, index, at)) : box;
			builder.add({ code, box, shownAt, size }, () => pdfium.call.FPDFText_GetFontWeight(textPage, index) >= BOLD);
		}
	}
	builder.end();
}

interface Letter extends PlacedLetter {
	/** Its position on the page: vertical writing is rotated. */
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

	/** Returns the letter size of the current word; null between words. */
	get wordSize(): number | null {
		return this.#draft === null || this.#draft.space ? null : this.#draft.size;
	}

	add({ code, box, shownAt, size }: Letter, bold: () => boolean): void {
		this.letters += 1;
		const draft = this.#draft;
		if (draft !== null && (partsFrom(draft, shownAt, size) || (this.#isLaidOut && shownAt.left < draft.right - size))) this.end();
		this.#draft ??= createDraft(shownAt, size, bold());
		addCharacter(this.#draft, code, shownAt, size, this.#links.find((link) => inside(link.box, box))?.address);
	}

	space(): void {
		if (this.#draft !== null) this.#draft.space = true;
	}

	hyphen(): void {
		if (this.#draft !== null) this.#draft.hyphen = true;
	}

	end(): void {
		if (this.#draft !== null && this.#draft.text.trim() !== "") this.segments.push(segmentOf(this.#draft));
		this.#draft = null;
	}
}

function createDraft(box: Box, size: number, bold: boolean): Draft {
	return { text: "", address: undefined, linkFrom: 0, ...box, size, bold, hyphen: false, space: false };
}

/** Returns true at a wide gap, a step back, or another line that the library joined after a hyphenated word. */
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
	// A hyphen within a line is an ordinary character.
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

function segmentOf(draft: Draft): Segment {
	closeLink(draft);
	const { left, right, top, bottom, size, bold, hyphen } = draft;
	return { text: draft.text.toWellFormed(), left, right, top, bottom, size, bold, hyphen };
}

function charBox(pdfium: Pdfium, textPage: number, index: number, at: number): Box {
	pdfium.call.FPDFText_GetCharBox(textPage, index, at, at + 8, at + 16, at + 24);
	return { left: pdfium.double(at), right: pdfium.double(at + 8), bottom: pdfium.double(at + 16), top: pdfium.double(at + 24) };
}

/** Returns the whole box of a letter, not only its shape: a full stop is in a corner (FS_RECTF). */
function fullBox(pdfium: Pdfium, textPage: number, index: number, at: number): Box {
	pdfium.call.FPDFText_GetLooseCharBox(textPage, index, at);
	return { left: pdfium.float(at), top: pdfium.float(at + 4), right: pdfium.float(at + 8), bottom: pdfium.float(at + 12) };
}

/** Returns the font's size on the page: many files write text of size 1 through a matrix. */
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
