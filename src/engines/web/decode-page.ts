import { decodeText } from "../documents/plain/decode-text.ts";
import { decodeHtml } from "../documents/plain/html-bytes.ts";

const MARK = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;

/**
 * A page's text: by its byte order mark, then as the header says (WHATWG Encoding, HTML 13.2.3), then as the page says or
 * its bytes look. UTF-8 that is none is read as what it is.
 * @throws DocumentFault where it is no text
 */
export function decodePage(bytes: Uint8Array, charset: string | null, isHtml: boolean): string {
	const plain = isHtml ? decodeHtml : decodeText;
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(3, bytes.length)).toString("latin1");
	if (charset === null || MARK.test(head)) return plain(bytes);
	let decoder: TextDecoder;
	try {
		decoder = new TextDecoder(charset as ConstructorParameters<typeof TextDecoder>[0]);
	} catch {
		return plain(bytes);
	}
	return decoder.encoding === "utf-8" ? plain(bytes) : decoder.decode(bytes);
}
