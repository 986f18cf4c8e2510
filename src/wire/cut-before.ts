import { BACKSLASH } from "./json-bytes.ts";

const LETTER_U = 0x75;

/**
 * Returns the last position between two characters of a JSON string's content, at or before `cut` and not before
 * `start`.
 */
export function cutBefore(bytes: Uint8Array, start: number, cut: number): number {
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
	while (place > start && isContinuation(bytes[place])) place--;
	return place;
}

/** Returns true for a continuation byte of UTF-8. */
export function isContinuation(byte: number | undefined): boolean {
	return ((byte ?? 0) & 0xc0) === 0x80;
}
