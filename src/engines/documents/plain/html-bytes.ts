import { htmlToMarkdown } from "../markup/html-to-markdown.ts";
import { decodeText } from "./decode-text.ts";

const MARK = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;
/** A page must say its encoding in its first 1,024 bytes (WHATWG HTML, 13.2.3.2); many do behind long heads. */
const PRESCAN_BYTES = 16_384;

/** A page in the encoding that it names, else in the one that its bytes look like. */
export function htmlBytesToMarkdown(bytes: Uint8Array): string {
	return htmlToMarkdown(decodeHtml(bytes));
}

export function decodeHtml(bytes: Uint8Array): string {
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PRESCAN_BYTES)).toString("latin1");
	const named =
		/<meta[^>]+charset\s*=\s*["']?\s*([\w:-]+)/i.exec(head)?.[1] ?? /<\?xml[^>]+encoding\s*=\s*["']([\w:-]+)/i.exec(head)?.[1];
	if (named === undefined || MARK.test(head) || /^utf-?16/i.test(named)) return decodeText(bytes);
	try {
		const decoder = new TextDecoder(named as ConstructorParameters<typeof TextDecoder>[0]);
		// A page that says UTF-8 and is not is read as what it is.
		return decoder.encoding === "utf-8" ? decodeText(bytes) : decoder.decode(bytes);
	} catch {
		return decodeText(bytes);
	}
}
