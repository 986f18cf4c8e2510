import { latin1Text } from "./byte-text.ts";

/** Characters that are decoded at a time: a multiple of four. */
const STEP = 1_048_576;
const EQUALS = 0x3d;
/** Line ends and blanks, also as JSON writes them. */
const BLANKS = /\\[nrt]|\s+/g;
/** Plus, slash and equals sign as some writers of JSON escape them. */
const ESCAPED = /\\u00(?:2b|2f|3d)/gi;
const ALPHABET = /^[A-Za-z0-9+/_-]*$/;

/**
 * The bytes that base64 text stands for (RFC 4648, either alphabet, with or without padding and line ends), written over the
 * text itself: 33 MB of a body become 25 MB of the same memory. The text may be the content of a JSON string as it is
 * written. It is lost, also where the answer is null: it is no base64 then.
 */
export function decodeBase64Over(text: Uint8Array): Uint8Array | null {
	const buffer = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
	const end = withoutPadding(buffer);
	let written = 0;
	for (let at = 0; at < end; at += STEP) {
		const piece = latin1Text(buffer, at, Math.min(at + STEP, end));
		const size = decodedLength(piece.length);
		// What is not of the alphabet is passed over by the decoder: then there is less than there should be.
		if (size === null || buffer.write(piece, written, size, "base64") !== size) {
			const rest = decodeUnclean(piece + latin1Text(buffer, at + piece.length, end));
			if (rest === null || at === 0) return rest;
			buffer.set(rest, written);
			return buffer.subarray(0, written + rest.length);
		}
		written += size;
	}
	return buffer.subarray(0, written);
}

/** How many bytes so many characters of unpadded base64 stand for; null where no bytes end there. */
export function decodedLength(characters: number): number | null {
	const rest = characters % 4;
	return rest === 1 ? null : Math.floor(characters / 4) * 3 + Math.max(0, rest - 1);
}

function withoutPadding(buffer: Buffer): number {
	let end = buffer.length;
	while (end > 0 && buffer.length - end < 2 && buffer[end - 1] === EQUALS) end--;
	return end;
}

function decodeUnclean(text: string): Uint8Array | null {
	const clean = text
		.replace(ESCAPED, (written) => String.fromCharCode(Number.parseInt(written.slice(2), 16)))
		.replaceAll("\\/", "/")
		.replace(BLANKS, "")
		.replace(/={1,2}$/, "");
	if (clean === "" || !ALPHABET.test(clean) || decodedLength(clean.length) === null) return null;
	return Buffer.from(clean, "base64");
}
