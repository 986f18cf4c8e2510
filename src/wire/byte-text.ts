/**
 * Reads text from a range of bytes without a view of the range. A view makes the runtime create a buffer object, which
 * costs more than the reading, and again when it is collected.
 */
const read = Buffer.prototype.toString;

/** Returns one character for each byte: offsets in the text are offsets in the bytes. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
	return read.call(bytes, "latin1", start, end);
}

/** Returns UTF-8 text; invalid bytes become U+FFFD. */
export function utf8Text(bytes: Uint8Array, start: number, end: number): string {
	return read.call(bytes, "utf8", start, end);
}

/** Returns true if these bytes are the ASCII `word`, without making a text. */
export function bytesAre(bytes: Uint8Array, start: number, end: number, word: string): boolean {
	if (end - start !== word.length) return false;
	for (let index = 0; index < word.length; index++) if (bytes[start + index] !== word.charCodeAt(index)) return false;
	return true;
}
