import { concatBytes } from "./json-members.ts";
import { endOfString } from "./json-scan.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
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
 * A copy of JSON text with each long string cut to its beginning, so that a body with media in it can be
 * parsed and checked without stopping the event loop. Cuts never fall inside an escape or a UTF-8 sequence:
 * what was valid JSON stays valid. Takes any bytes; broken JSON comes out as broken as it was.
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
		elided.push({ start: open + 1, bytes: length, keptBytes: cut - open - 1 });
		pieces.push(bytes.subarray(copiedTo, cut));
		copiedTo = at - 1;
	}
	if (elided.length === 0) return { json: bytes, elided };
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
		const escapeEnd = at + (bytes[at + 1] === 0x75 ? 6 : 2);
		if (opensEscape && escapeEnd > cut) return at;
		break;
	}
	let place = cut;
	while (place > start && ((bytes[place] ?? 0) & 0xc0) === 0x80) place--;
	return place;
}
