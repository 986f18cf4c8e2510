/**
 * Speech and transcription as routes see them. Until the first byte of an answer the next target may be tried. The
 * failures are in docs/speech.md.
 */
import type { AudioFormatName, ModelTarget } from "../../catalog/types.ts";

/** The sample of a cloned voice. It is sent with each call, or once to an upstream that stores voices. */
export interface VoiceSample {
	/** An id that begins with `vv_`. */
	readonly handle: string;
	/** The media type, such as `audio/wav`. */
	readonly type: string;
	/** Reads the sample. Throws ApiError if the voice was deleted meanwhile. */
	bytes(): Promise<Uint8Array>;
}

/** The names of our voices at upstreams that store voices. */
export interface UpstreamVoices {
	/** Returns the upstream's name for a voice. The voice is created once for all nodes. */
	nameOf(
		handle: string,
		upstream: string,
		work: { create(signal: AbortSignal): Promise<string>; delete(name: string): Promise<void> },
		signal: AbortSignal,
	): Promise<string>;
	/** Removes a name that the upstream refuses. Returns true if this caller must delete the voice there. */
	forget(handle: string, upstream: string, name: string): Promise<boolean>;
}

export interface SpeechForward {
	readonly requestId: string;
	/** The tenant in whose share of an upstream's places the call counts. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	/** The caller's body, unchanged. */
	readonly raw: Uint8Array;
	readonly input: string;
	/** The voice's name in the model's catalog entry; a target may use another name. Ignored if there is a sample. */
	readonly voice: string;
	readonly sample: VoiceSample | null;
	readonly format: AudioFormatName;
	readonly speed: number;
	/** Set only if the model supports it, as the three fields below. */
	readonly prompt?: string | undefined;
	readonly temperature?: number | undefined;
	readonly topP?: number | undefined;
	readonly language?: string | undefined;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Called before each attempt's bytes go out. From then on a caller that leaves is charged. */
	onSent(upstream: string): void;
}

/** The audio of an upstream, from its first byte on. */
export interface SpeechAnswer {
	readonly upstream: string;
	/** Number of attempts before this one. */
	readonly retries: number;
	/** The format; null: a file in another format, which must be decoded to identify it. */
	readonly format: AudioFormatName | null;
	/** Samples per second of pcm, if the upstream reports them. */
	readonly sampleRate: number | null;
	/** The factor by which the audio must still be sped up, since the upstream does not support the requested speed. */
	readonly tempo: number;
	/** Can be read once. A reader that stops ends the upstream. Throws ApiError if the upstream fails or falls silent. */
	readonly bytes: AsyncIterable<Uint8Array>;
	/** Ends the upstream if `bytes` are not read to their end. May be called at any time. */
	cancel(): void;
}

export interface TranscriptionForward {
	readonly requestId: string;
	/** The tenant in whose share of an upstream's places the call counts. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	readonly file: { readonly bytes: Uint8Array; readonly name: string; readonly type: string };
	/** ISO 639-1; undefined: the upstream detects it. */
	readonly language: string | undefined;
	/** Words that may occur, for servers that accept a hint. */
	readonly prompt: string | undefined;
	readonly temperature: number | undefined;
	/** The times requested beside the text. */
	readonly timings: "none" | "segment" | "word";
	readonly signal: AbortSignal;
	onSent(upstream: string): void;
}

export interface TimedText {
	readonly text: string;
	/** Seconds from the start of the audio. */
	readonly start: number;
	readonly end: number;
}

export interface TranscriptionAnswer {
	readonly upstream: string;
	readonly retries: number;
	readonly text: string;
	/** The language as the upstream reports it; null if it reports none. */
	readonly language: string | null;
	/** Empty if the upstream reports none. */
	readonly segments: readonly TimedText[];
	readonly words: readonly TimedText[];
}

export interface AudioUpstreams {
	/** Resolves at the first byte. Rejects with an ApiError after all attempts, or with the signal's reason. */
	speak(call: SpeechForward): Promise<SpeechAnswer>;
	transcribe(call: TranscriptionForward): Promise<TranscriptionAnswer>;
	/**
	 * Deletes a voice that an upstream stores. Does nothing if the upstream stores none or is not configured any more.
	 */
	deleteVoice(upstream: string, name: string): Promise<void>;
}
