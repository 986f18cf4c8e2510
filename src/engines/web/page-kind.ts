/** The kind of content at an address: a page to convert, text to use as it is, or a document's bytes. */
export type PageKind = "html" | "text" | "document" | "media";

const HEAD_BYTES = 1_024;
/** The signatures of zip files, old Office files, and RTF. */
const DOCUMENT_MARKS = ["PK\x03\x04", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "{\\rtf"];
const HTML = /^(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype html|<html[\s>])/is;

/**
 * Returns the kind by the content first, then by the header, because many servers send octet-stream or text/plain for anything.
 */
export function pageKind(bytes: Uint8Array, type: string): PageKind {
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES)).toString("latin1");
	if (head.includes("%PDF-") || DOCUMENT_MARKS.some((mark) => head.startsWith(mark))) return "document";
	if (/^(image\/(?!svg)|audio\/|video\/|font\/)/.test(type)) return "media";
	if (/^(text\/html|application\/xhtml\+xml)$/.test(type)) return "html";
	const saysNothing = type === "" || type === "application/octet-stream" || type === "text/plain";
	return saysNothing && HTML.test(head) ? "html" : "text";
}

export interface ContentType {
	/** Lower case, without parameters; "" if there is none. */
	readonly type: string;
	readonly charset: string | null;
}

export function contentType(header: string | undefined): ContentType {
	const [type = "", ...parameters] = (header ?? "").split(";");
	const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]{1,40})/i.exec(text)?.[1]).find(Boolean) ?? null;
	return { type: type.trim().toLowerCase(), charset };
}

const MARKDOWN = /^text\/(x-)?markdown$/;
export const isMarkdown = (type: string): boolean => MARKDOWN.test(type);

/** Returns the address of the page's Markdown from a Link header (RFC 8288); null if there is none. */
export function markdownLink(header: string | undefined): string | null {
	for (const link of (header ?? "").split(/,\s*(?=<)/)) {
		const target = /^\s*<([^>]*)>/.exec(link)?.[1];
		if (target && /;\s*rel\s*=\s*"?[^";]*\balternate\b/i.test(link) && /;\s*type\s*=\s*"?text\/markdown\b/i.test(link))
			return target;
	}
	return null;
}
