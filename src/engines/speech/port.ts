import type { Requester } from "../../fairness/index.ts";

/** What speaks: the embedded engine as routes see it. Audio is mono, 16 bits, at `SPEECH_SAMPLE_RATE`. */

/** Samples a second of everything that the engine says. */
export const SPEECH_SAMPLE_RATE = 24_000;

export type SpeechLanguage = "en-us" | "en-gb" | "es" | "fr" | "hi" | "it" | "ja" | "pt-br" | "zh";

export interface SpeechVoice {
	/** As callers name it, `af_sky`. */
	readonly id: string;
	/** The language that it reads. */
	readonly language: SpeechLanguage;
}

export interface SpeechRequest extends Requester {
	/** As the caller wrote it. Markup, control characters and emoji are plain text: what cannot be said is passed over. */
	readonly text: string;
	/** One of `voices()`. */
	readonly voice: string;
	/** The engine's own, `MIN_ENGINE_SPEED` to `MAX_ENGINE_SPEED`; see `paceOf` for what lies beyond. */
	readonly speed: number;
	/** Ends the synthesis: the sentence that is being computed is the last. */
}

/** One spoken sentence, or a part of a long one, with its pause. Pieces join without a click. */
export interface PcmPiece {
	readonly samples: Int16Array;
	/** Code points of `text` that are spoken once this piece is; with the last piece all of them. */
	readonly charactersDone: number;
}

export type SpeechEngineState =
	| { readonly state: "ready"; readonly text: string }
	/** The text says why and how far it is; it may go to a caller. */
	| { readonly state: "offline"; readonly text: string };

/** The request cannot be spoken as it is: the caller's to change, a 400. `message` is written for the caller. */
export class SpeechInputError extends Error {
	override readonly name = "SpeechInputError";
	readonly code: "nothing-to-say" | "unknown-voice";

	constructor(code: SpeechInputError["code"], message: string) {
		super(message);
		this.code = code;
	}
}

export interface SpeechEngine {
	voices(): readonly SpeechVoice[];
	/** Whether a request would be answered now, and else why not. */
	state(): Promise<SpeechEngineState>;
	/** Begins the download where it is needed, without waiting for it. A failure is in `state` and in the log. */
	prefetch(): void;
	/**
	 * Speaks piece by piece; at most one piece is computed ahead of its reader. Nothing happens before the first
	 * piece is asked for; a reader that stops early ends the synthesis.
	 * @throws SpeechInputError before the first piece: unknown voice, or nothing in the text can be said
	 * @throws ApiError MODEL_OFFLINE (weights on their way, with the progress in its text), MODEL_OVERLOADED (too many
	 * wait), INFERENCE_FAILED (the engine failed in the middle); the signal's reason where the caller left
	 */
	synthesize(request: SpeechRequest): AsyncIterable<PcmPiece>;
	/** Ends the engine and any download, for good. */
	stop(): Promise<void>;
}

/** The range in which the voices sound natural. */
export const MIN_ENGINE_SPEED = 0.75;
export const MAX_ENGINE_SPEED = 1.25;

export interface Pace {
	/** For `SpeechRequest.speed`. */
	readonly speed: number;
	/** For the encoder: how much faster its output is than its input. */
	readonly tempo: number;
}

/**
 * A caller's speed as the engine's part and the encoder's part. Beyond its natural range the engine speaks at
 * its own pace and the encoder stretches or shortens what it said: so twice the speed is half the time, exactly.
 */
export function paceOf(speed: number): Pace {
	if (speed >= MIN_ENGINE_SPEED && speed <= MAX_ENGINE_SPEED) return { speed, tempo: 1 };
	return { speed: 1, tempo: speed };
}
