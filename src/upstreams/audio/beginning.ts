import type { AudioFormatName } from "../../catalog/types.ts";
import { audioContainer } from "../../wire/index.ts";
import type { BodyReader } from "../connect.ts";

/** As many bytes as tell a container. */
const CONTAINER_BYTES = 16;
/** As many as tell what has none: raw samples have no sign of their own, but are never so much plain text. */
const TELLING_BYTES = 256;
const CONTAINER_OF: Readonly<Record<AudioFormatName, string | null>> = {
	mp3: "mp3",
	opus: "ogg",
	aac: "aac",
	flac: "flac",
	wav: "wav",
	pcm: null,
};
/** What samples do not begin with by chance. */
const UNLIKE_SAMPLES: ReadonlySet<string> = new Set(["wav", "flac", "ogg"]);

/** The first bytes of an answer: enough to tell what it is, or all where it is shorter; null where there are none. */
export async function readBeginning(reader: BodyReader): Promise<Uint8Array | null> {
	let beginning = new Uint8Array(0);
	while (beginning.length < CONTAINER_BYTES || (beginning.length < TELLING_BYTES && audioContainer(beginning) === null)) {
		const read = await reader.read();
		if (read.done) break;
		const piece = read.value ?? new Uint8Array(0);
		beginning = beginning.length === 0 ? new Uint8Array(piece) : Buffer.concat([beginning, piece]);
	}
	return beginning.length === 0 ? null : beginning;
}

/**
 * What an answer is by its first bytes. null: audio of another kind than its Content-Type says. `none`: no audio, as
 * text is none, and what does not begin like the container that it is said to be.
 */
export function formatOfBytes(beginning: Uint8Array, told: AudioFormatName | null): AudioFormatName | null | "none" {
	const container = audioContainer(beginning);
	if (isWholeUtf8(beginning) || (container === null && isMostlyLetters(beginning.subarray(0, TELLING_BYTES)))) return "none";
	if (told === "pcm") return container !== null && UNLIKE_SAMPLES.has(container) ? null : told;
	if (told === null) return null;
	if (container === null) return "none";
	return container === CONTAINER_OF[told] ? told : null;
}

/** Without control characters: errors, pages and drawings, in whatever syntax. */
function isWholeUtf8(bytes: Uint8Array): boolean {
	for (const byte of bytes) if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
	try {
		// The last character may be cut.
		new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
		return true;
	} catch {
		return false;
	}
}

/** Of samples some 4 bytes in 10 are among ASCII's characters, and silence is one byte over and over. */
const LEAST_LETTERS = 0.85;
const LEAST_DIFFERENT = 8;
const LEAST_BYTES = 32;

/** Text in another charset, or with a control character in it. The zeros of UTF-16 do not count. */
function isMostlyLetters(bytes: Uint8Array): boolean {
	if (bytes.length < LEAST_BYTES) return false;
	const said = bytes.filter((byte) => byte !== 0);
	const letters = said.filter((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d));
	return letters.length >= said.length * LEAST_LETTERS && new Set(letters).size >= LEAST_DIFFERENT;
}
