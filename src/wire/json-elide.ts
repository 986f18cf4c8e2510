import { isUtf8 } from "node:buffer";
import { ApiError } from "../errors/index.ts";
import { concatBytes } from "./json-members.ts";
import { endOfString } from "./json-scan.ts";
import { isStringContent } from "./json-string.ts";
import { cutMark } from "./long-strings.ts";

const encoder = new TextEncoder();
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const KIB = 1024;

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

function broken(reason: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `The body is not valid JSON: ${reason}` });
}
