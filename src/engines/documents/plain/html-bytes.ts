import { htmlToMarkdown } from "../markup/html-to-markdown.ts";
import { decodeText } from "./decode-text.ts";

const MARK = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;
/** A page must declare its encoding in its first 1,024 bytes (WHATWG HTML, 13.2.3.2); many declare it later. */
const PRESCAN_BYTES = 1_048_576;
const META = /<meta\b[^<>]{1,500}?charset\s*=\s*["']?\s*([\w:-]+)/i;
const DECLARATION_BYTES = 1_024;
const XML_DECLARATION = /^\s*<\?xml[^<>]{1,500}?encoding\s*=\s*["']([\w:-]+)/i;

/** Converts a page in its declared encoding, otherwise in the detected one. */
export function htmlBytesToMarkdown(bytes: Uint8Array): string {
	return htmlToMarkdown(decodeHtml(bytes));
}

export function decodeHtml(bytes: Uint8Array): string {
	const head = headOf(bytes, PRESCAN_BYTES);
	return decodeNamed(bytes, META.exec(head)?.[1] ?? XML_DECLARATION.exec(head)?.[1]);
}

/** Decodes XML or other text in its declared encoding (XML 1.0, 4.3.3), otherwise in the detected one. */
export function decodeXml(bytes: Uint8Array): string {
	return decodeNamed(bytes, XML_DECLARATION.exec(headOf(bytes, DECLARATION_BYTES))?.[1]);
}

const headOf = (bytes: Uint8Array, length: number): string =>
	Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString("latin1");

function decodeNamed(bytes: Uint8Array, named: string | undefined): string {
	if (named === undefined || MARK.test(headOf(bytes, 4)) || /^utf-?16/i.test(named)) return decodeText(bytes);
	try {
		const decoder = new TextDecoder(named as ConstructorParameters<typeof TextDecoder>[0]);
		// A page that falsely declares UTF-8 is decoded by detection.
		return decoder.encoding === "utf-8" ? decodeText(bytes) : decoder.decode(bytes);
	} catch {
		return decodeText(bytes);
	}
}
