import type { AudioEncoder, AudioFormat } from "../../src/engines/audio/port.ts";

const SAMPLE_RATE = 24_000;

/** A file with a tone of so many seconds; `level` 0 is silence. */
export function toneFile(encoder: AudioEncoder, format: AudioFormat, seconds: number, level = 8_000): Promise<Uint8Array> {
	const samples = Int16Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, (_, at) =>
		Math.round(level * Math.sin((2 * Math.PI * 440 * at) / SAMPLE_RATE)),
	);
	async function* bytes(): AsyncGenerator<Uint8Array, void> {
		yield new Uint8Array(samples.buffer);
	}
	const input = { kind: "pcm", sampleRate: SAMPLE_RATE, bytes: bytes() } as const;
	return encoder.whole({ input, format, tenant: "acc_a", signal: new AbortController().signal });
}
