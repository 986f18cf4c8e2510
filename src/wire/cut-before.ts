const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The last place of a JSON string's content at or before `cut`, not before `start`, that is between two characters. */
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

/** Whether a byte of UTF-8 goes on a character. */
export function isContinuation(byte: number | undefined): boolean {
	return ((byte ?? 0) & 0xc0) === 0x80;
}
