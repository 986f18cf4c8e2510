import { DocumentFault } from "../document-fault.ts";

/** The end tag of a root element, with comments and instructions behind it (XML 1.0, 2.1). */
const END = /<\/[^<>]*>(?:\s|<!--(?:(?!-->)[\s\S])*-->|<\?[^<>]*\?>)*$/;
const TAIL_CHARS = 4_096;
const ROOT = /<([A-Za-z_][^\s<>/]*)/;

/** Throws a DocumentFault if the root element of an XML text has no end, which the parser would accept. */
export function refuseCutOff(xml: string): void {
	const end = END.exec(xml.slice(-TAIL_CHARS))?.[0];
	const root = ROOT.exec(xml)?.[1];
	if (root !== undefined && end?.startsWith(`</${root}`) === true) return;
	throw new DocumentFault("corrupt", "The file is cut off: its last elements are not closed");
}
