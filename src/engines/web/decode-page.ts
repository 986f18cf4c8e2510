import { decodeText } from "../documents/plain/decode-text.ts";
import { decodeHtml } from "../documents/plain/html-bytes.ts";

const MARK = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;

/**
 * Decodes a page by its byte order mark, then the header (WHATWG Encoding, HTML 13.2.3), then the page's declaration or its
 * bytes. Invalid UTF-8 is read in the detected encoding.
 * @throws {DocumentFault} if it is not text
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
