import { isUtf8 } from "node:buffer";
import { ApiError } from "../errors/index.ts";
import { latin1Text } from "./byte-text.ts";
import { concatBytes } from "./json-members.ts";
import { endOfString } from "./json-scan.ts";
import { cutMark } from "./long-strings.ts";

const encoder = new TextEncoder();
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const SPACE = 0x20;
const KIB = 1024;
/** What may not stand in a string as it is, and what begins an escape (RFC 8259, 7). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const SPECIAL = /[\0-\x1f\\]/;
const SHORT_ESCAPES = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));
/** How much of a string is searched at once. */
const PIECE_BYTES = 64 * KIB;

/** A string that was cut short in the copy. */
export interface ElidedString {
	/** Where its content starts in the original. */
	readonly start: number;
	/** Bytes of its content in the original, as written (escapes count as they stand). */
	readonly bytes: number;
	/** Bytes of it that the copy has. */
	readonly keptBytes: number;
}

export interface ElidedJson {
	/** The original itself where no string is long. */
	readonly json: Uint8Array;
	/** In the order of their appearance. */
	readonly elided: readonly ElidedString[];
}

/**
 * A copy of JSON text with each long string cut to its beginning and a mark (see LongStrings), so that a body with media in it can be
 * parsed and checked without stopping the event loop. Cuts never fall inside an escape or a UTF-8 sequence:
 * what was valid JSON stays valid. What is broken in the copy is for its parser to find; what is broken in the
 * rest of a long string, and bytes that are no UTF-8 at all, throw INVALID_REQUEST here.
 */
export function elideLongStrings(bytes: Uint8Array, longerThan = 256 * KIB, keep = 64 * KIB): ElidedJson {
	if (bytes.length <= longerThan) return { json: bytes, elided: [] };
	const elided: ElidedString[] = [];
	const pieces: Uint8Array[] = [];
	let copiedTo = 0;
	let at = 0;
	for (;;) {
		const open = bytes.indexOf(QUOTE, at);
		if (open < 0) break;
		at = endOfString(bytes, open);
		if (at < 0) break;
		const length = at - open - 2;
		if (length <= longerThan) continue;
		const cut = cutBefore(bytes, open + 1, open + 1 + keep);
		if (!isStringContent(bytes, cut, at - 1)) throw broken("a string has a control character or a bad escape in it");
		elided.push({ start: open + 1, bytes: length, keptBytes: cut - open - 1 });
		pieces.push(bytes.subarray(copiedTo, cut), encoder.encode(cutMark(elided.length - 1)));
		copiedTo = at - 1;
	}
	if (elided.length === 0) return { json: bytes, elided };
	if (!isUtf8(bytes)) throw broken("it is not valid UTF-8");
	pieces.push(bytes.subarray(copiedTo));
	return { json: concatBytes(pieces), elided };
}

/** The last place at or before `cut`, not before `start`, that is between two characters. */
function cutBefore(bytes: Uint8Array, start: number, cut: number): number {
	for (let at = cut - 1; at >= start && at >= cut - 5; at--) {
		if (bytes[at] !== BACKSLASH) continue;
		let run = at;
		while (run > start && bytes[run - 1] === BACKSLASH) run--;
		const opensEscape = (at - run) % 2 === 0;
		const escapeEnd = at + (bytes[at + 1] === LETTER_U ? 6 : 2);
		if (opensEscape && escapeEnd > cut) return at;
		break;
	}
	let place = cut;
	while (place > start && ((bytes[place] ?? 0) & 0xc0) === 0x80) place--;
	return place;
}

/**
 * True where the range, which begins between two characters, is what JSON takes inside of quotes; UTF-8 is checked
 * elsewhere. Base64 and the like are only searched, natively; text with escapes is read byte by byte.
 */
function isStringContent(bytes: Uint8Array, start: number, end: number): boolean {
	let at = start;
	while (at < end) {
		const pieceEnd = Math.min(at + PIECE_BYTES, end);
		if (!SPECIAL.test(latin1Text(bytes, at, pieceEnd))) {
			at = pieceEnd;
			continue;
		}
		while (at < pieceEnd) {
			const length = characterLength(bytes, at);
			if (length === 0) return false;
			at += length;
		}
	}
	return at === end;
}

/** Bytes of the escape, or of the plain byte, that stands here; 0 for what JSON refuses. */
function characterLength(bytes: Uint8Array, at: number): number {
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

function broken(reason: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `The body is not valid JSON: ${reason}` });
}
