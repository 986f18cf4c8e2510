import { latin1Text } from "./byte-text.ts";

/** Number of characters decoded in a step: a multiple of four. */
const STEP = 1_048_576;
const EQUALS = 0x3d;
/** Matches line ends and blanks, also as JSON writes them. */
const BLANKS = /\\[nrt]|\s+/g;
/** Matches plus, slash and equals sign as some JSON writers escape them. */
const ESCAPED = /\\u00(?:2b|2f|3d)/gi;
/** Matches an escape that continues past the end. */
const OPEN_ESCAPE = /\\(?:u[0-9a-f]{0,3})?$/i;
const ALPHABET = /^[A-Za-z0-9+/_-]*$/;

/**
 * Decodes base64 text (RFC 4648, either alphabet, with or without padding and line ends) in place: 33 MB of a body
 * become 25 MB of the same memory. The text may be the raw content of a JSON string. It is lost, even where null is
 * returned because it is no base64. Runs in steps.
 */
export function* decodeBase64Over(text: Uint8Array): Generator<undefined, Uint8Array | null> {
	const buffer = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
	const end = withoutPadding(buffer);
	let written = 0;
	/** The rest of the previous piece: less than four characters, or the beginning of an escape. */
	let carry = "";
	for (let at = 0; at < end || carry !== ""; at += STEP) {
		const isLast = at + STEP >= end;
		const piece = carry + latin1Text(buffer, Math.min(at, end), Math.min(at + STEP, end));
		const clean = ALPHABET.test(piece) ? { text: piece, open: "" } : cleanPiece(piece, isLast);
		if (clean === null) return null;
		const characters = isLast ? clean.text.length : clean.text.length - (clean.text.length % 4);
		const size = decodedLength(characters);
		if (size === null) return null;
		// The text is at least that long, so writing never overtakes reading.
		if (size > 0) buffer.write(clean.text.slice(0, characters), written, size, "base64");
		written += size;
		carry = clean.text.slice(characters) + clean.open;
		if (isLast) break;
		yield;
	}
	return written === 0 && end > 0 ? null : buffer.subarray(0, written);
}

/** Returns how many bytes this many characters of unpadded base64 encode; null if that is impossible. */
export function decodedLength(characters: number): number | null {
	const rest = characters % 4;
	return rest === 1 ? null : Math.floor(characters / 4) * 3 + Math.max(0, rest - 1);
}

function withoutPadding(buffer: Buffer): number {
	let end = buffer.length;
	while (end > 0 && buffer.length - end < 2 && buffer[end - 1] === EQUALS) end--;
	return end;
}

/** Returns the piece without blanks and escapes, and the escape cut off at its end; null if it is no base64. */
function cleanPiece(piece: string, isLast: boolean): { readonly text: string; readonly open: string } | null {
	const open = isLast ? "" : (OPEN_ESCAPE.exec(piece)?.[0] ?? "");
	const unescaped = piece
		.slice(0, piece.length - open.length)
		.replace(ESCAPED, (written) => String.fromCharCode(Number.parseInt(written.slice(2), 16)))
		.replaceAll("\\/", "/")
		.replace(BLANKS, "");
	const text = isLast ? unescaped.replace(/={1,2}$/, "") : unescaped;
	return ALPHABET.test(text) ? { text, open } : null;
}
