import type { AudioFormatName } from "../../catalog/types.ts";
import { audioContainer, provenByFrames, samplesOfWave } from "../../wire/index.ts";
import type { BodyReader } from "../connect.ts";

/** Number of bytes that identify a container. */
const CONTAINER_BYTES = 16;
/**
 * Number of bytes that identify audio without a container. Raw samples have no signature, but never this much plain
 * text.
 */
const PROOF_BYTES = 256;
/** The same limit for the samples after the header of a WAVE file. */
const PROOF_SAMPLE_BYTES = 128;
const CONTAINER_OF: Readonly<Record<AudioFormatName, string | null>> = {
	mp3: "mp3",
	opus: "ogg",
	aac: "aac",
	flac: "flac",
	wav: "wav",
	pcm: null,
};
/** Containers whose signatures raw samples do not begin with by chance. */
const UNLIKE_SAMPLES: ReadonlySet<string> = new Set(["wav", "flac", "ogg"]);

/** Tags and padding before the first frame are shorter. */
const MAX_HELD_BYTES = 262_144;

export interface FirstBytes {
	readonly bytes: Uint8Array;
	/** True if nothing follows them. */
	readonly isWhole: boolean;
}

/**
 * Returns the first bytes of an answer, enough to identify its format, or the whole of a shorter answer; null if it is
 * empty.
 */
export async function readFirstBytes(reader: BodyReader): Promise<FirstBytes | null> {
	let buffer = new Uint8Array(4_096);
	let length = 0;
	for (;;) {
		const read = await reader.read();
		if (read.done) return length === 0 ? null : { bytes: buffer.subarray(0, length), isWhole: true };
		const piece = read.value ?? new Uint8Array(0);
		if (length + piece.length > buffer.length) {
			// The buffer doubles, so that many small pieces are not copied repeatedly.
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
 * Returns the format of an answer by its first bytes. null: audio of another format than its Content-Type declares,
 * which must be decoded. `none`: no audio, such as text, or bytes that do not match the declared container.
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

/** Returns true for text without control characters, such as errors, HTML and SVG. */
function isWholeUtf8(bytes: Uint8Array): boolean {
	for (const byte of bytes) if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
	try {
		// The last character may be incomplete.
		new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
		return true;
	} catch {
		return false;
	}
}

/** About 4 of 10 bytes of raw samples are in ASCII's range, and silence repeats one byte. */
const LEAST_LETTERS = 0.85;
const LEAST_DIFFERENT = 8;
const LEAST_BYTES = 32;

/** Returns true for text in another charset, or with a control character. Zeros of UTF-16 are ignored. */
function isMostlyLetters(bytes: Uint8Array): boolean {
	if (bytes.length < LEAST_BYTES) return false;
	const nonZero = bytes.filter((byte) => byte !== 0);
	const letters = nonZero.filter((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d));
	return letters.length >= nonZero.length * LEAST_LETTERS && new Set(letters).size >= LEAST_DIFFERENT;
}
