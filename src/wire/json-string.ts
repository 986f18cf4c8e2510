import { latin1Text, utf8Text } from "./byte-text.ts";
import { BACKSLASH } from "./json-bytes.ts";

const LETTER_U = 0x75;
const SPACE = 0x20;
/** Matches characters that a string may not contain unescaped, and the beginning of an escape (RFC 8259, 7). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const SPECIAL = /[\0-\x1f\\]/;
const SHORT_ESCAPES = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));
/** Bytes of a string searched at once. */
const PIECE_BYTES = 64 * 1024;

/**
 * Returns true if the range, which begins between two characters, is valid content of a JSON string. See
 * `stringContentEnd`.
 */
export function isStringContent(bytes: Uint8Array, start: number, end: number): boolean {
	return stringContentEnd(bytes, start, end) === end;
}

/**
 * Checks string content from `start`, which is between two characters, to `end`. Returns `end`, or the end of the
 * escape that reaches past it; -1 for invalid content. UTF-8 is checked elsewhere. Base64 and the like are searched
 * natively; text with escapes is read byte by byte.
 */
export function stringContentEnd(bytes: Uint8Array, start: number, end: number): number {
	let at = start;
	while (at < end) {
		const pieceEnd = Math.min(at + PIECE_BYTES, end);
		if (!SPECIAL.test(latin1Text(bytes, at, pieceEnd))) {
			at = pieceEnd;
			continue;
		}
		while (at < pieceEnd) {
			const length = characterLength(bytes, at);
			if (length === 0) return -1;
			at += length;
		}
	}
	return at;
}

/** Returns the text of a string's content. */
export function stringText(content: Uint8Array): string {
	return JSON.parse(`"${utf8Text(content, 0, content.length)}"`) as string;
}

/** Returns the length of the escape, or of the plain byte, at `at`; 0 for invalid content. A quote counts as plain. */
export function characterLength(bytes: Uint8Array, at: number): number {
	const byte = bytes[at] ?? 0;
	if (byte !== BACKSLASH) return byte < SPACE ? 0 : 1;
	const letter = bytes[at + 1] ?? 0;
	if (letter !== LETTER_U) return SHORT_ESCAPES.has(letter) ? 2 : 0;
	for (let digit = at + 2; digit < at + 6; digit++) if (!isHexDigit(bytes[digit] ?? 0)) return 0;
	return 6;
}

function isHexDigit(byte: number): boolean {
	const letter = byte | 0x20;
	return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}
