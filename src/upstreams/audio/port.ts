/**
 * Speech and transcription as routes see them, over servers that speak OpenAI's audio protocol and providers. Up to the
 * first byte of an answer the next target may be tried; what failures mean: docs/speech.md
 */
import type { AudioFormatName, ModelTarget } from "../../catalog/types.ts";

/** The sample of a cloned voice: goes with each call, or once to an upstream that keeps it. */
export interface VoiceSample {
	/** `vv_...` */
	readonly handle: string;
	/** Media type, `audio/wav`. */
	readonly type: string;
	/** Reads it. Throws ApiError where the voice was deleted meanwhile. */
	bytes(): Promise<Uint8Array>;
}

/** What upstreams that keep voices call ours. */
export interface UpstreamVoices {
	/** The upstream's name for a voice; it is made once for all nodes. */
	nameOf(
		handle: string,
		upstream: string,
		work: { create(signal: AbortSignal): Promise<string>; delete(name: string): Promise<void> },
		signal: AbortSignal,
	): Promise<string>;
	/** Forgets a name that the upstream refuses. True for the one who has to take it back. */
	forget(handle: string, upstream: string, name: string): Promise<boolean>;
}

export interface SpeechForward {
	readonly requestId: string;
	/** Whose share of an upstream's places it counts in. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	/** The caller's body as it came. */
	readonly raw: Uint8Array;
	readonly input: string;
	/** As the model's catalog names it; a target may have a name of its own. Left out where a sample speaks. */
	readonly voice: string;
	readonly sample: VoiceSample | null;
	readonly format: AudioFormatName;
	readonly speed: number;
	/** Present only where the model takes them. */
	readonly prompt?: string | undefined;
	readonly temperature?: number | undefined;
	readonly topP?: number | undefined;
	readonly language?: string | undefined;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Called before each try's bytes go out: from here on leaving is billed. */
	onSent(upstream: string): void;
}

/** Audio of an upstream that has begun to come. */
export interface SpeechAnswer {
	readonly upstream: string;
	/** Tries before this one. */
	readonly retries: number;
	/** What it is; null: a file of another form, which has to be read to tell. */
	readonly format: AudioFormatName | null;
	/** Samples a second of pcm, where the upstream tells. */
	readonly sampleRate: number | null;
	/** How much faster it still has to be made: what the upstream could not do of the speed. */
	readonly tempo: number;
	/** To be read once; a reader that stops ends the upstream. Throws ApiError where the upstream breaks or falls silent. */
	readonly bytes: AsyncIterable<Uint8Array>;
	/** Ends the upstream where `bytes` are not read, or not to their end. Safe to call at any time. */
	cancel(): void;
}

export interface TranscriptionForward {
	readonly requestId: string;
	/** Whose share of an upstream's places it counts in. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	readonly file: { readonly bytes: Uint8Array; readonly name: string; readonly type: string };
	/** ISO 639-1; undefined: the upstream finds it out. */
	readonly language: string | undefined;
	/** Words that may be said, for servers that take a hint. */
	readonly prompt: string | undefined;
	readonly temperature: number | undefined;
	/** What is wanted beside the text. */
	readonly timings: "none" | "segment" | "word";
	readonly signal: AbortSignal;
	onSent(upstream: string): void;
}

export interface TimedText {
	readonly text: string;
	/** Seconds. */
	readonly start: number;
	readonly end: number;
}

export interface TranscriptionAnswer {
	readonly upstream: string;
	readonly retries: number;
	readonly text: string;
	/** As the upstream says it; null where it does not. */
	readonly language: string | null;
	/** Empty where it gave none. */
	readonly segments: readonly TimedText[];
	readonly words: readonly TimedText[];
}

export interface AudioUpstreams {
	/** Resolves at the first byte. Rejects with an ApiError, after all tries, or the signal's reason. */
	speak(call: SpeechForward): Promise<SpeechAnswer>;
	transcribe(call: TranscriptionForward): Promise<TranscriptionAnswer>;
	/** Takes a voice back that an upstream keeps. Nothing happens where it keeps none, or is not there any more. */
	deleteVoice(upstream: string, name: string): Promise<void>;
}
