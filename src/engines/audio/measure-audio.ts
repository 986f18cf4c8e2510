import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import { audioContainer, streamableMp4 } from "../../wire/index.ts";
import type { AudioEncoder } from "./port.ts";

export interface AudioMeasure {
	/** Whole milliseconds, rounded up. */
	readonly ms: number;
	/** True if nothing in it is louder than -60 dB. */
	readonly silent: boolean;
}

/** Enough to measure length and loudness. */
const SAMPLE_RATE = 8_000;
const SILENCE = 33;

/**
 * Decodes a file once and measures its length and whether anything is audible. null if it cannot be decoded.
 * @throws {ApiError} MODEL_OFFLINE if there is no program to decode with, MODEL_OVERLOADED; the signal's reason
 */
export async function measureAudio(
	encoder: AudioEncoder,
	file: Uint8Array,
	{ tenant, signal }: Requester,
): Promise<AudioMeasure | null> {
	const readable = audioContainer(file) === "mp4" ? streamableMp4(file) : file;
	const input = { kind: "file", bytes: onceOf(readable) } as const;
	let bytes = 0;
	let peak = 0;
	let odd: number | null = null;
	try {
		for await (const piece of encoder.stream({ input, format: "pcm", sampleRate: SAMPLE_RATE, tenant, signal })) {
			// A sample may span two pieces.
			let at = 0;
			if (odd !== null && piece.length > 0) {
				peak = Math.max(peak, Math.abs(sampleOf(odd, piece[0] ?? 0)));
				at = 1;
			}
			const pairs = Math.floor((piece.length - at) / 2);
			for (let index = 0; index < pairs; index++, at += 2)
				peak = Math.max(peak, Math.abs(sampleOf(piece[at] ?? 0, piece[at + 1] ?? 0)));
			odd = at < piece.length ? (piece[at] ?? 0) : null;
			bytes += piece.length;
		}
	} catch (error) {
		if (signal.aborted) throw signal.reason;
		if (error instanceof ApiError && error.code === "INFERENCE_FAILED") return null;
		throw error;
	}
	return { ms: Math.ceil((Math.floor(bytes / 2) * 1_000) / SAMPLE_RATE), silent: peak < SILENCE };
}

function sampleOf(low: number, high: number): number {
	const value = low | (high << 8);
	return value >= 0x8000 ? value - 0x10000 : value;
}

async function* onceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
	yield bytes;
}
