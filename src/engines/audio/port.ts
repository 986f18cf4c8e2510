/** Audio as callers get it: the formats, and what an encoder takes and gives. */

export const AUDIO_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
export type AudioFormat = (typeof AUDIO_FORMATS)[number];

/** The `Content-Type` of each format. pcm: signed 16 bits, little-endian, mono; its rate is the input's. */
export const AUDIO_CONTENT_TYPES: Readonly<Record<AudioFormat, string>> = {
	mp3: "audio/mpeg",
	opus: "audio/opus",
	aac: "audio/aac",
	flac: "audio/flac",
	wav: "audio/wav",
	pcm: "audio/pcm",
};

/** What comes in: bare samples (signed 16 bits, little-endian, mono), or a file that tells its own format. */
export type AudioInput =
	| { readonly kind: "pcm"; readonly sampleRate: number; readonly bytes: AsyncIterable<Uint8Array> }
	| { readonly kind: "file"; readonly bytes: AsyncIterable<Uint8Array> };

export interface EncodeRequest {
	readonly input: AudioInput;
	readonly format: AudioFormat;
	/** Samples a second of wav, pcm, mp3, aac and flac; opus has 48,000 by its standard. Default: 24,000. */
	readonly sampleRate?: number;
	/** How much faster the output is than the input, 0.25 to 4; default 1. Pitch stays. */
	readonly tempo?: number;
	/** Whose share of the programs it counts in. */
	readonly tenant: string;
	readonly signal: AbortSignal;
}

export type AudioEncoderState =
	| { readonly state: "ready"; readonly text: string }
	/** No program here yet. The text says why and how far it is; it may go to a caller. */
	| { readonly state: "offline"; readonly text: string };

export interface AudioEncoder {
	state(): Promise<AudioEncoderState>;
	/** Begins the download of the program where the system has none, without waiting for it. */
	prefetch(): void;
	/**
	 * Encodes as the input comes; a reader that stops early, or the signal, ends the program. The header of a
	 * streamed wav says that its length is not known.
	 * @throws what the input throws; ApiError INFERENCE_FAILED where the program fails, MODEL_OFFLINE where there is none,
	 * MODEL_OVERLOADED where too much waits for one
	 */
	stream(request: EncodeRequest): AsyncIterable<Uint8Array>;
	/** The same as one whole file, with the lengths in its header. */
	whole(request: EncodeRequest): Promise<Uint8Array>;
	/** Ends any download, for good. */
	stop(): Promise<void>;
}
