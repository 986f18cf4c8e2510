import type { Pdfium } from "./pdfium.ts";

/** FPDF_PAGEOBJ_TEXT and FPDF_PAGEOBJ_FORM (public/fpdf_edit.h). */
const TEXT_OBJECT = 1;
const FORM_OBJECT = 5;
/** Limits for the inspected objects of a page, and for the depth of nested forms. */
const MAX_OBJECTS = 100_000;
const MAX_DEPTH = 8;
/** The library ignores text without width (CPDF_TextPage::ProcessTextObject). */
const NO_WIDTH = 0.01;

export interface PageObjects {
	/** The page has more than text. */
	readonly isDrawnOn: boolean;
	/** Text objects that the library skips, by their index among all of them. */
	readonly leftOut: ReadonlySet<number>;
}

export function pageObjects(pdfium: Pdfium, page: number): PageObjects {
	const { call } = pdfium;
	const count = Math.min(MAX_OBJECTS, call.FPDFPage_CountObjects(page));
	let isDrawnOn = false;
	for (let index = 0; index < count && !isDrawnOn; index += 1)
		isDrawnOn = call.FPDFPageObj_GetType(call.FPDFPage_GetObject(page, index)) !== TEXT_OBJECT;
	const leftOut = new Set<number>();
	pdfium.withMemory(16, (at) => {
		let place = 0;
		for (const object of textObjects(pdfium, page)) {
			const isKnown = call.FPDFPageObj_GetBounds(object, at, at + 4, at + 8, at + 12) !== 0;
			if (isKnown && Math.abs(pdfium.float(at + 8) - pdfium.float(at)) < NO_WIDTH) leftOut.add(place);
			place += 1;
		}
	});
	return { isDrawnOn, leftOut };
}

/** Yields a page's text objects in the order of the file, including those in its forms. */
export function* textObjects({ call }: Pdfium, page: number): Generator<number> {
	let seen = 0;
	function* within(count: number, objectAt: (index: number) => number, depth: number): Generator<number> {
		for (let index = 0; index < count && seen < MAX_OBJECTS; index += 1) {
			seen += 1;
			const object = objectAt(index);
			const type = call.FPDFPageObj_GetType(object);
			if (type === TEXT_OBJECT) yield object;
			else if (type === FORM_OBJECT && depth < MAX_DEPTH)
				yield* within(call.FPDFFormObj_CountObjects(object), (inner) => call.FPDFFormObj_GetObject(object, inner), depth + 1);
		}
	}
	yield* within(call.FPDFPage_CountObjects(page), (index) => call.FPDFPage_GetObject(page, index), 0);
}
