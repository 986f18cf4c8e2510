import { oneLine, quote } from "../markdown.ts";
import type { Box } from "./page-content.ts";
import type { Pdfium } from "./pdfium.ts";

const MAX_ANNOTATIONS = 5_000;
/** FPDF_ANNOT_* (public/fpdf_annot.h). */
const WIDGET = 20;
const NOTES = new Map([
	[1, "Note"],
	[3, "Text"],
	[9, "Highlighted"],
	[10, "Underlined"],
	[11, "Squiggly"],
	[12, "Struck out"],
	[13, "Stamp"],
]);
const HIDDEN_FLAG = 2;
const CHECKBOX = 2;
const RADIO = 3;
const PUSH_BUTTON = 1;

export interface PageLink {
	readonly box: Box;
	readonly address: string;
}

/** Returns the areas of a page that link to addresses. */
export function readLinks(pdfium: Pdfium, document: number, page: number): PageLink[] {
	const { call } = pdfium;
	return pdfium.withMemory(32, (at) => {
		const links: PageLink[] = [];
		const place = at;
		const foundLink = at + 4;
		const rect = at + 8;
		pdfium.bytes(at, 32).fill(0);
		while (links.length < MAX_ANNOTATIONS && call.FPDFLink_Enumerate(page, place, foundLink) !== 0) {
			const link = pdfium.int(foundLink);
			const action = call.FPDFLink_GetAction(link);
			if (action === 0 || call.FPDFLink_GetAnnotRect(link, rect) === 0) continue;
			const box = rectangle(pdfium, rect);
			const address = uriOf(pdfium, document, action);
			if (address !== "") links.push({ box, address });
		}
		return links;
	});
}

function uriOf(pdfium: Pdfium, document: number, action: number): string {
	const length = pdfium.call.FPDFAction_GetURIPath(document, action, 0, 0);
	if (length <= 1) return "";
	return pdfium.withMemory(length, (at) => {
		pdfium.call.FPDFAction_GetURIPath(document, action, at, length);
		return new TextDecoder().decode(pdfium.bytes(at, length - 1).slice());
	});
}

function rectangle(pdfium: Pdfium, at: number): Box {
	return { left: pdfium.float(at), top: pdfium.float(at + 4), right: pdfium.float(at + 8), bottom: pdfium.float(at + 12) };
}

/** Returns filled form fields as `name: value`, and readers' notes on the page. */
export function readExtras(pdfium: Pdfium, page: number, form: number): string[] {
	const { call } = pdfium;
	const extras: string[] = [];
	const count = Math.min(MAX_ANNOTATIONS, call.FPDFPage_GetAnnotCount(page));
	for (let index = 0; index < count; index += 1) {
		const annotation = call.FPDFPage_GetAnnot(page, index);
		if (annotation === 0) continue;
		const subtype = call.FPDFAnnot_GetSubtype(annotation);
		const hidden = (call.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAG) !== 0;
		if (!hidden && subtype === WIDGET && form !== 0) extras.push(fieldText(pdfium, annotation, form));
		const note = NOTES.get(subtype);
		if (!hidden && note !== undefined) {
			const contents = oneLine(stringOf(pdfium, annotation, "Contents"));
			if (contents !== "") extras.push(quote(`${note}: ${contents}`));
		}
		call.FPDFPage_CloseAnnot(annotation);
	}
	return extras.filter((text) => text !== "");
}

function fieldText(pdfium: Pdfium, annotation: number, form: number): string {
	const { call } = pdfium;
	const type = call.FPDFAnnot_GetFormFieldType(form, annotation);
	if (type === PUSH_BUTTON) return "";
	const name = oneLine(pdfium.text((buffer, length) => call.FPDFAnnot_GetFormFieldName(form, annotation, buffer, length)));
	if (type === CHECKBOX || type === RADIO) {
		const checked = call.FPDFAnnot_IsChecked(form, annotation) !== 0;
		if (type === RADIO && !checked) return "";
		const value = oneLine(pdfium.text((buffer, length) => call.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, length)));
		return type === RADIO ? `${name}: ${value}` : `- [${checked ? "x" : " "}] ${name}`;
	}
	const value = pdfium.text((buffer, length) => call.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, length)).trim();
	return value === "" ? "" : `${name}: ${value}`;
}

function stringOf(pdfium: Pdfium, annotation: number, key: string): string {
	const name = new TextEncoder().encode(`${key}\0`);
	return pdfium.withMemory(name.length, (at) => {
		pdfium.bytes(at, name.length).set(name);
		return pdfium.text((buffer, length) => pdfium.call.FPDFAnnot_GetStringValue(annotation, at, buffer, length));
	});
}
