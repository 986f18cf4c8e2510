import type { AudioFormatName } from "../../catalog/types.ts";
import { audioContainer, provenByFrames, samplesOfWave } from "../../wire/index.ts";
import type { BodyReader } from "../connect.ts";

/** As many bytes as tell a container. */
const CONTAINER_BYTES = 16;
/** As many as tell what has none: raw samples have no sign of their own, but are never so much plain text. */
const PROOF_BYTES = 256;
/** The same of samples behind the head of a WAVE file. */
const PROOF_SAMPLE_BYTES = 128;
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

/** More than tags and paddings in front of the first frames have. */
const MAX_HELD_BYTES = 262_144;

export interface FirstBytes {
	readonly bytes: Uint8Array;
	/** Nothing comes behind them. */
	readonly isWhole: boolean;
}

/** The first bytes of an answer: enough to prove what it is, or all where it is shorter; null where there are none. */
export async function readFirstBytes(reader: BodyReader): Promise<FirstBytes | null> {
	let buffer = new Uint8Array(4_096);
	let length = 0;
	for (;;) {
		const read = await reader.read();
		if (read.done) return length === 0 ? null : { bytes: buffer.subarray(0, length), isWhole: true };
		const piece = read.value ?? new Uint8Array(0);
		if (length + piece.length > buffer.length) {
			// Twice as large, so that many small pieces are not copied again and again.
			const larger = new Uint8Array(Math.max(2 * buffer.length, length + piece.length));
			larger.set(buffer.subarray(0, length));
			buffer = larger;
		}
		buffer.set(piece, length);
		length += piece.length;
		const bytes = buffer.subarray(0, length);
		if (isEnough(bytes)) return { bytes, isWhole: false };
	}
}

function isEnough(bytes: Uint8Array): boolean {
	if (bytes.length < CONTAINER_BYTES) return false;
	const container = audioContainer(bytes);
	if (container === null) return bytes.length >= PROOF_BYTES;
	if (bytes.length >= MAX_HELD_BYTES) return true;
	const proof = provenByFrames(bytes, container, false);
	const isBare = container === "wav" && proof === "audio" && (samplesOfWave(bytes)?.length ?? 0) < PROOF_SAMPLE_BYTES;
	return proof !== "more" && !isBare;
}

/**
 * What an answer is by its beginning. null: audio of another kind than its Content-Type says, which has to be decoded.
 * `none`: no audio, as text is none, and what does not begin and go on like the container that it is said to be.
 */
export function formatOfBytes({ bytes, isWhole }: FirstBytes, declared: AudioFormatName | null): AudioFormatName | null | "none" {
	const container = audioContainer(bytes);
	if (isWholeUtf8(bytes) || (container === null && isMostlyLetters(bytes.subarray(0, PROOF_BYTES)))) return "none";
	if (declared === "pcm") return container !== null && UNLIKE_SAMPLES.has(container) ? null : declared;
	if (declared === null) return null;
	if (container === null) return "none";
	if (provenByFrames(bytes, container, isWhole || bytes.length >= MAX_HELD_BYTES) !== "audio") return "none";
	const samples = container === "wav" ? samplesOfWave(bytes) : null;
	if (samples !== null && isMostlyLetters(samples.subarray(0, PROOF_SAMPLE_BYTES))) return "none";
	return container === CONTAINER_OF[declared] ? declared : null;
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
	const nonZero = bytes.filter((byte) => byte !== 0);
	const letters = nonZero.filter((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d));
	return letters.length >= nonZero.length * LEAST_LETTERS && new Set(letters).size >= LEAST_DIFFERENT;
}
