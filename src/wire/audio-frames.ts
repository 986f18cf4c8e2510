/**
 * Checks whether bytes that begin like audio continue like audio: by frames and pages at the distances that their
 * headers give.
 * Sources: ID3v2.4 structure (3.1, 3.4); ISO/IEC 11172-3 2.4.2.3 and 13818-3 (MPEG audio); ISO/IEC 13818-7 6.2 (ADTS);
 * RFC 3533 6 (Ogg), RFC 7845 5.1 (Opus in Ogg); RFC 9639 8 and 9 (FLAC); Multimedia Programming Interface 1.0 (RIFF,
 * WAVE).
 */
import type { AudioContainer } from "./audio-container.ts";

/** `more`: the bytes so far fit, but prove nothing yet. */
export type FrameProof = "audio" | "none" | "more";

/** This many successive headers prove audio. A shorter file must have the lesser number. */
const PROVING_FRAMES = 3;
const LEAST_FRAMES = 2;

/**
 * Checks the frames of a container.
 * @param isWhole true if no more bytes follow
 */
export function provenByFrames(bytes: Uint8Array, container: AudioContainer, isWhole: boolean): FrameProof {
	const proof = proofOf(bytes, container, isWhole);
	return proof === "more" && isWhole ? "none" : proof;
}

function proofOf(bytes: Uint8Array, container: AudioContainer, isWhole: boolean): FrameProof {
	switch (container) {
		case "mp3":
			return proofOfTagged(bytes, isWhole);
		case "aac":
			return proofOfFrames(bytes, 0, isWhole, adtsFrame);
		case "ogg":
			return proofOfOgg(bytes);
		case "flac":
			return proofOfFlac(bytes);
		case "wav":
			return proofOfWave(bytes);
		default:
			// These formats are decoded by their readers.
			return "audio";
	}
}

interface Frame {
	readonly length: number;
	/** The header bits that all frames of a stream share. */
	readonly kind: number;
}

/** Checks tags, zeros after them, then frames. */
function proofOfTagged(bytes: Uint8Array, isWhole: boolean): FrameProof {
	let at = 0;
	while (bytes[at] === 0x49 && bytes[at + 1] === 0x44 && bytes[at + 2] === 0x33) {
		if (at + 10 > bytes.length) return "more";
		const sizes = bytes.subarray(at + 6, at + 10);
		if (sizes.some((byte) => byte >= 0x80)) return "none";
		const size = sizes.reduce((sum, byte) => sum * 128 + byte, 0);
		at += 10 + size + (((bytes[at + 5] ?? 0) & 0x10) === 0 ? 0 : 10);
	}
	while (at > 0 && bytes[at] === 0) at++;
	if (at + 2 > bytes.length) return "more";
	return proofOfFrames(bytes, at, isWhole, ((bytes[at + 1] ?? 0) & 0x06) === 0 ? adtsFrame : mpegFrame);
}

function proofOfFrames(
	bytes: Uint8Array,
	from: number,
	isWhole: boolean,
	read: (bytes: Uint8Array, at: number) => Frame | null,
): FrameProof {
	let kind: number | null = null;
	let at = from;
	for (let count = 0; count < PROVING_FRAMES; count++) {
		if (at + 8 > bytes.length) return isWhole && count >= LEAST_FRAMES ? "audio" : "more";
		const frame = read(bytes, at);
		if (frame === null || (kind !== null && frame.kind !== kind)) {
			// A tag of the first version ends a file.
			const isTag = bytes[at] === 0x54 && bytes[at + 1] === 0x41 && bytes[at + 2] === 0x47;
			return isTag && count >= LEAST_FRAMES ? "audio" : "none";
		}
		kind = frame.kind;
		at += frame.length;
	}
	return "audio";
}

/** kbit/s by index, of version 1 in layers I to III, and of versions 2 and 2.5 in layer I and in the others. */
const BITRATES = {
	"1-1": [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
	"1-2": [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
	"1-3": [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
	"2-1": [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
	"2-2": [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000];

function mpegFrame(bytes: Uint8Array, at: number): Frame | null {
	const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
	if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
	const version = (second >> 3) & 3;
	const layer = 4 - ((second >> 1) & 3);
	const rate = SAMPLE_RATES[(third >> 2) & 3];
	if (version === 1 || layer === 4 || rate === undefined) return null;
	const isFirst = version === 3;
	const table = isFirst ? (`1-${layer as 1 | 2 | 3}` as const) : layer === 1 ? "2-1" : "2-2";
	const bitrate = (BITRATES[table][third >> 4] ?? 0) * 1_000;
	// 0 is a free rate: its frame length is unknown.
	if (bitrate === 0) return null;
	const sampleRate = rate / (isFirst ? 1 : version === 2 ? 2 : 4);
	const padding = (third >> 1) & 1;
	const slots = (bits: number) => Math.floor((bits * bitrate) / sampleRate) + padding;
	const length = layer === 1 ? slots(12) * 4 : slots(layer === 3 && !isFirst ? 72 : 144);
	return { length, kind: (second & 0xfe) * 4 + ((third >> 2) & 3) };
}

function adtsFrame(bytes: Uint8Array, at: number): Frame | null {
	const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = bytes.subarray(at, at + 6);
	if (first !== 0xff || (second & 0xf6) !== 0xf0 || ((third >> 2) & 15) > 12) return null;
	const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
	return length < 8 ? null : { length, kind: (second & 0x08) * 256 + (third & 0xfc) };
}

const OGG_CODECS = ["OpusHead", "\x01vorbis", "\x7fFLAC", "Speex   "];

/** Checks Ogg pages: the first has only the codec's header, and the next one begins where it ends. */
function proofOfOgg(bytes: Uint8Array): FrameProof {
	if (bytes.length < 28) return "more";
	// The first page of a stream has version 0 and the flag of a beginning.
	if (bytes[4] !== 0 || ((bytes[5] ?? 0) & 2) === 0) return "none";
	const segments = bytes[26] ?? 0;
	const payload = 27 + segments;
	const next = bytes.subarray(27, payload).reduce((sum, size) => sum + size, payload);
	if (bytes.length < next + 5) return "more";
	if (!OGG_CODECS.some((name) => textAt(bytes, payload, name.length) === name)) return "none";
	return textAt(bytes, next, 4) === "OggS" && bytes[next + 4] === 0 ? "audio" : "none";
}

/** Checks STREAMINFO, further blocks, then a frame. */
function proofOfFlac(bytes: Uint8Array): FrameProof {
	if (bytes.length < 42) return "more";
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const [least, most, rate] = [view.getUint16(8), view.getUint16(10), view.getUint32(18) >>> 12];
	if (((bytes[4] ?? 0) & 0x7f) !== 0 || (view.getUint32(4) & 0xffffff) !== 34) return "none";
	if (least < 16 || most < least || rate === 0) return "none";
	let at = 4;
	for (let isLast = false; !isLast; ) {
		if (at + 4 > bytes.length) return "more";
		const type = bytes[at] ?? 0;
		if ((type & 0x7f) > 6) return "none";
		isLast = type >= 0x80;
		at += 4 + (view.getUint32(at) & 0xffffff);
	}
	if (at + 2 > bytes.length) return "more";
	return bytes[at] === 0xff && ((bytes[at + 1] ?? 0) & 0xfe) === 0xf8 ? "audio" : "none";
}

/** Checks for a valid format, then the samples. */
function proofOfWave(bytes: Uint8Array): FrameProof {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	let hasForm = false;
	for (let at = 12; at + 8 <= bytes.length; ) {
		const name = textAt(bytes, at, 4);
		const size = view.getUint32(at + 4, true);
		if (name === "data") return hasForm ? "audio" : "none";
		if (!/^[A-Za-z0-9 ]{4}$/.test(name)) return "none";
		if (name === "fmt ") {
			if (size < 16 || size > 1_024) return "none";
			if (at + 24 > bytes.length) return "more";
			const [channels, rate] = [view.getUint16(at + 10, true), view.getUint32(at + 12, true)];
			const [block, bits] = [view.getUint16(at + 20, true), view.getUint16(at + 22, true)];
			if (channels < 1 || channels > 32 || rate < 1_000 || rate > 768_000 || block === 0 || bits > 64) return "none";
			hasForm = true;
		}
		at += 8 + size + (size & 1);
	}
	return "more";
}

/** Returns the samples of a WAVE file received so far; null if they have not begun. */
export function samplesOfWave(bytes: Uint8Array): Uint8Array | null {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	for (let at = 12; at + 8 <= bytes.length; ) {
		if (textAt(bytes, at, 4) === "data") return bytes.subarray(at + 8);
		const size = view.getUint32(at + 4, true);
		at += 8 + size + (size & 1);
	}
	return null;
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
	return String.fromCharCode(...bytes.subarray(at, at + length));
}
