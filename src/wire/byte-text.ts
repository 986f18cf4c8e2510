/**
 * Text of a range of bytes without a view of the range. A view makes the runtime give its bytes a buffer object
 * of its own, which costs more than the reading, and again when it is collected.
 */
const read = Buffer.prototype.toString;

/** One character a byte: offsets in the text are offsets in the bytes. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
	return read.call(bytes, "latin1", start, end);
}

/** UTF-8; what is not valid becomes U+FFFD. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
	return read.call(bytes, "utf8", start, end);
}

/** True where these bytes are `word`, which is ASCII: no text is made of them. */
export function bytesAre(bytes: Uint8Array, start: number, end: number, word: string): boolean {
	if (end - start !== word.length) return false;
	for (let index = 0; index < word.length; index++) if (bytes[start + index] !== word.charCodeAt(index)) return false;
	return true;
}
