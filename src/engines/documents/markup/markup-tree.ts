import { Parser } from "htmlparser2";
import { DocumentFault } from "../document-fault.ts";
import { MAX_HTML_DEPTH, MAX_NODES, MAX_XML_DEPTH } from "../limits.ts";

/** An element of XML or HTML. XML element names have no prefix; attribute names are unchanged. */
export interface MarkupElement {
	readonly name: string;
	readonly attributes: Readonly<Record<string, string>>;
	readonly children: MarkupNode[];
}
export type MarkupNode = MarkupElement | string;

const root = (): MarkupElement => ({ name: "", attributes: {}, children: [] });
const localName = (name: string) => name.slice(name.indexOf(":") + 1);

/**
 * Parses XML. Entities of a document type are not expanded.
 * @throws {DocumentFault} if it nests too deep or has too many elements
 */
export function parseXml(xml: string): MarkupElement {
	return parse(xml, true);
}

/** Parses HTML with a browser's tolerance; elements that nest too deep join their ancestor. */
export function parseHtml(html: string): MarkupElement {
	return parse(html, false);
}

function parse(text: string, xmlMode: boolean): MarkupElement {
	const top = root();
	const open: MarkupElement[] = [top];
	let flattened = 0;
	let nodes = 0;
	const count = () => {
		if (++nodes > MAX_NODES) throw new DocumentFault("too-large", `The file has more than ${MAX_NODES} elements`);
	};
	const parser = new Parser(
		{
			onopentag(name, attributes) {
				count();
				if (xmlMode ? open.length > MAX_XML_DEPTH : open.length > MAX_HTML_DEPTH) {
					if (xmlMode) throw new DocumentFault("too-large", `The file nests deeper than ${MAX_XML_DEPTH} elements`);
					flattened += 1;
					return;
				}
				const element = { name: xmlMode ? localName(name) : name, attributes, children: [] };
				open.at(-1)?.children.push(element);
				open.push(element);
			},
			ontext(text) {
				const siblings = open.at(-1)?.children;
				const last = siblings?.at(-1);
				if (siblings === undefined) return;
				if (typeof last === "string") siblings[siblings.length - 1] = last + text;
				else {
					count();
					siblings.push(text);
				}
			},
			onclosetag() {
				if (flattened > 0) flattened -= 1;
				else if (open.length > 1) open.pop();
			},
		},
		{ xmlMode, decodeEntities: true },
	);
	parser.end(text);
	return top;
}

/** Returns the value of an attribute by its local name, with any prefix; one without prefix is preferred. */
export function attribute(element: MarkupElement, name: string): string | undefined {
	return Object.hasOwn(element.attributes, name) ? element.attributes[name] : prefixed(element, name);
}

/** Returns the value of an attribute with a prefix: `r:id` beside `id`. */
export function prefixed({ attributes }: MarkupElement, name: string): string | undefined {
	const suffix = `:${name}`;
	for (const key in attributes) if (key.endsWith(suffix)) return attributes[key];
	return undefined;
}

export const elements = ({ children }: MarkupElement): MarkupElement[] =>
	children.filter((child): child is MarkupElement => typeof child !== "string");

/** Returns the first child of that name. */
export function child(element: MarkupElement | undefined, name: string): MarkupElement | undefined {
	return element?.children.find((node): node is MarkupElement => typeof node !== "string" && node.name === name);
}

/** Returns all descendants of that name, in order, except those within one of them. */
export function descendants(element: MarkupElement, name: string, matches: MarkupElement[] = []): MarkupElement[] {
	for (const node of element.children) {
		if (typeof node === "string") continue;
		if (node.name === name) matches.push(node);
		else descendants(node, name, matches);
	}
	return matches;
}

/** Returns all text below an element. */
export function textOf(element: MarkupElement | undefined): string {
	if (element === undefined) return "";
	let text = "";
	for (const node of element.children) text += typeof node === "string" ? node : textOf(node);
	return text;
}
