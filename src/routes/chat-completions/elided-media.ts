import type { ElidedString } from "../../wire/index.ts";

const DATA_URL = Buffer.from("data:");
const PROBE_BYTES = 1024;
const SPACE = 0x20;

/**
 * Bytes of media that the parsed copy of a body lacks because its long strings were cut: data URLs, and base64
 * text (long and without a space near its start). Long prose is not media: its bytes count as text.
 */
export function elidedMediaBytes(raw: Uint8Array, elided: readonly ElidedString[]): number {
	let bytes = 0;
	for (const cut of elided) {
		const head = raw.subarray(cut.start, cut.start + PROBE_BYTES);
		const media = Buffer.compare(head.subarray(0, DATA_URL.length), DATA_URL) === 0 || !head.includes(SPACE);
		if (media) bytes += cut.bytes - cut.keptBytes;
	}
	return bytes;
}
