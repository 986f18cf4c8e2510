import { refuseCutOff } from "../markup/cut-off.ts";
import { elements, type MarkupElement, parseXml } from "../markup/markup-tree.ts";
import { odfRootToMarkdown } from "../office/odf.ts";
import { decodeXml } from "../plain/html-bytes.ts";
import { spreadsheetMlToMarkdown } from "./spreadsheet-ml.ts";
import { wordMlToMarkdown } from "./word-ml.ts";

/** An Office document in one XML file: the formats of 2003, and flat OpenDocument. */
export type FlatKind = "word-ml" | "spreadsheet-ml" | "flat-odf";

/** The root elements, with the namespaces that distinguish them. */
const ROOTS: readonly (readonly [kind: FlatKind, root: RegExp])[] = [
	["word-ml", /^<(?:\w+:)?wordDocument\s[^>]*["']http:\/\/schemas\.microsoft\.com\/office\/word\/2003\/wordml["']/],
	["spreadsheet-ml", /^<(?:\w+:)?Workbook\s[^>]*["']urn:schemas-microsoft-com:office:spreadsheet["']/],
	["flat-odf", /^<(?:\w+:)?document\s[^>]*["']urn:oasis:names:tc:opendocument:xmlns:office:1\.0["']/],
];
const PROLOG = /^(?:\s+|<\?[^>]*\?>|<!--[\s\S]*?-->|<!DOCTYPE[^[>]*>)+/;
const HEAD_CHARS = 65_536;

const PACKAGE = /^<(?:\w+:)?package\s[^>]*["']http:\/\/schemas\.microsoft\.com\/office\/2006\/xmlPackage["']/;

/** Returns the kind of a flat document; null if the text is none. */
export function flatKind(text: string): FlatKind | null {
	const head = rootOf(text);
	return ROOTS.find(([, root]) => root.test(head))?.[0] ?? null;
}

/** Returns true for a document of Office 2007 or later as one XML file (Flat OPC). */
export const isFlatPackage = (text: string): boolean => PACKAGE.test(rootOf(text));

const rootOf = (text: string): string => text.slice(0, HEAD_CHARS).replace(PROLOG, "");

const READERS: Readonly<Record<FlatKind, (root: MarkupElement) => string>> = {
	"word-ml": wordMlToMarkdown,
	"spreadsheet-ml": spreadsheetMlToMarkdown,
	"flat-odf": (root) => odfRootToMarkdown(root, root),
};

/**
 * Converts a flat document.
 * @throws {DocumentFault}
 */
export function flatToMarkdown(kind: FlatKind, bytes: Uint8Array): string {
	const text = decodeXml(bytes).replace(/^\ufeff/, "");
	refuseCutOff(text);
	const root = elements(parseXml(text)).find(({ name }) => !/^[?!]/.test(name));
	return root === undefined ? "" : READERS[kind](root);
}
