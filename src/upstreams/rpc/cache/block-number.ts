import { type ByteRange, decodeString, latin1Text, QUOTE } from "../../../wire/index.ts";

const HEX = /^0x[0-9a-f]{1,13}$/i;
const INTEGER = /^(?:0|[1-9][0-9]{0,14})$/;
/** No spelling of a block number is longer than this. */
const MAX_BYTES = 64;

/**
 * Returns the block that a JSON value names by number: hex text, an integer, or the tag of the first block. Returns
 * null for everything else.
 */
export function blockNumberAt(bytes: Uint8Array, { start, end }: ByteRange): number | null {
	if (end - start > MAX_BYTES) return null;
	if (bytes[start] !== QUOTE) {
		const text = latin1Text(bytes, start, end);
		return INTEGER.test(text) ? Number(text) : null;
	}
	const text = decodeString(bytes, start, end);
	if (text === "earliest") return 0;
	return HEX.test(text) ? Number.parseInt(text, 16) : null;
}
