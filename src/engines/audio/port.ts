/** Audio formats, and the interface of an encoder. */

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

/** The input: raw samples (signed 16 bits, little-endian, mono), or a file with a header. */
export type AudioInput =
	| { readonly kind: "pcm"; readonly sampleRate: number; readonly bytes: AsyncIterable<Uint8Array> }
	| { readonly kind: "file"; readonly bytes: AsyncIterable<Uint8Array> };

export interface EncodeRequest {
	readonly input: AudioInput;
	readonly format: AudioFormat;
	/** Samples per second of wav, pcm, mp3, aac and flac; opus has 48,000 by its standard. Default: 24,000. */
	readonly sampleRate?: number;
	/** The ratio of the output's speed to the input's, 0.25 to 4; default 1. The pitch stays. */
	readonly tempo?: number;
	/** The tenant in whose share of the programs it counts. */
	readonly tenant: string;
	readonly signal: AbortSignal;
}

export type AudioEncoderState =
	| { readonly state: "ready"; readonly text: string }
	/** There is no program yet. The text gives the reason and the progress; callers may see it. */
	| { readonly state: "offline"; readonly text: string };

export interface AudioEncoder {
	state(): Promise<AudioEncoderState>;
	/** Starts the download of the program if the system has none, without waiting for it. */
	prefetch(): void;
	/**
	 * Encodes while the input arrives; a reader that stops early, or the signal, ends the program. The header of a streamed wav
	 * says that its length is unknown.
	 * @throws errors of the input; ApiError INFERENCE_FAILED if the program fails, MODEL_OFFLINE if there is none,
	 * MODEL_OVERLOADED if too many requests wait for one
	 */
	stream(request: EncodeRequest): AsyncIterable<Uint8Array>;
	/** Encodes one whole file, with the lengths in its header. */
	whole(request: EncodeRequest): Promise<Uint8Array>;
	/** Aborts any download, for good. */
	stop(): Promise<void>;
}
