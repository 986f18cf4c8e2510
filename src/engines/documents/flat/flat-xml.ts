import { elements, type MarkupElement, parseXml } from "../markup/markup-tree.ts";
import { odfRootToMarkdown } from "../office/odf.ts";
import { decodeXml } from "../plain/html-bytes.ts";
import { spreadsheetMlToMarkdown } from "./spreadsheet-ml.ts";
import { wordMlToMarkdown } from "./word-ml.ts";

/** A document of Office in one XML file: the forms of 2003, and flat OpenDocument. */
export type FlatKind = "word-ml" | "spreadsheet-ml" | "flat-odf";

/** Their root elements, with the namespace that makes each one what it is. */
const ROOTS: readonly (readonly [kind: FlatKind, root: RegExp])[] = [
	["word-ml", /^<(?:\w+:)?wordDocument\s[^>]*"http:\/\/schemas\.microsoft\.com\/office\/word\/2003\/wordml"/],
	["spreadsheet-ml", /^<(?:\w+:)?Workbook\s[^>]*"urn:schemas-microsoft-com:office:spreadsheet"/],
	["flat-odf", /^<(?:\w+:)?document\s[^>]*"urn:oasis:names:tc:opendocument:xmlns:office:1\.0"/],
];
const PROLOG = /^(?:\s+|<\?[^>]*\?>|<!--[\s\S]*?-->|<!DOCTYPE[^[>]*>)+/;
const HEAD_CHARS = 65_536;

/** What a text is as a flat document; null where it is none. */
export function flatKind(text: string): FlatKind | null {
	const head = text.slice(0, HEAD_CHARS).replace(PROLOG, "");
	return ROOTS.find(([, root]) => root.test(head))?.[0] ?? null;
}

const READERS: Readonly<Record<FlatKind, (root: MarkupElement) => string>> = {
	"word-ml": wordMlToMarkdown,
	"spreadsheet-ml": spreadsheetMlToMarkdown,
	"flat-odf": (root) => odfRootToMarkdown(root, root),
};

/** Throws DocumentFault. */
export function flatToMarkdown(kind: FlatKind, bytes: Uint8Array): string {
	const root = elements(parseXml(decodeXml(bytes).replace(/^\ufeff/, ""))).find(({ name }) => !/^[?!]/.test(name));
	return root === undefined ? "" : READERS[kind](root);
}
