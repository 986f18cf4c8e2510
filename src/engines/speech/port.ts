import type { Requester } from "../../fairness/index.ts";

/** The speech engine as routes use it. Audio is mono, 16 bits, at `SPEECH_SAMPLE_RATE`. */

/** Samples per second of all engine output. */
export const SPEECH_SAMPLE_RATE = 24_000;

export type SpeechLanguage = "en-us" | "en-gb" | "es" | "fr" | "hi" | "it" | "ja" | "pt-br" | "zh";

export interface SpeechVoice {
	/** The callers' name, like `af_sky`. */
	readonly id: string;
	/** The language of the voice. */
	readonly language: SpeechLanguage;
}

export interface SpeechRequest extends Requester {
	/** The caller's text. Markup, control characters and emoji are plain text: unpronounceable parts are skipped. */
	readonly text: string;
	/** One of `voices()`. */
	readonly voice: string;
	/** The engine's own speed, `MIN_ENGINE_SPEED` to `MAX_ENGINE_SPEED`; see `paceOf` for other speeds. */
	readonly speed: number;
	/** Ends the synthesis after the current sentence. */
}

/** One spoken sentence, or a part of a long one, with its pause. Pieces join without a click. */
export interface PcmPiece {
	readonly samples: Int16Array;
	/** Code points of `text` that have been spoken up to the end of this piece; all of them with the last piece. */
	readonly charactersDone: number;
}

export type SpeechEngineState =
	| { readonly state: "ready"; readonly text: string }
	/** The text gives the reason and the progress; callers may see it. */
	| { readonly state: "offline"; readonly text: string };

/** The request cannot be spoken and the caller has to change it: a 400. `message` is written for the caller. */
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
	/** Returns whether a request would be answered now, and otherwise the reason. */
	state(): Promise<SpeechEngineState>;
	/** Starts the download if it is needed, without waiting for it. A failure appears in `state` and in the log. */
	prefetch(): void;
	/**
	 * Speaks piece by piece, at most one piece ahead of its reader. It starts when the first piece is read; a reader that stops
	 * ends the synthesis.
	 * @throws {SpeechInputError} before the first piece: unknown voice, or nothing in the text can be spoken
	 * @throws {ApiError} MODEL_OFFLINE (weights are downloading, with the progress in the text), MODEL_OVERLOADED (too many
	 * wait), INFERENCE_FAILED (the engine failed in the middle); the signal's reason if the caller left
	 */
	synthesize(request: SpeechRequest): AsyncIterable<PcmPiece>;
	/** Stops the engine and any download, for good. */
	stop(): Promise<void>;
}

/** The range in which the voices sound natural. */
export const MIN_ENGINE_SPEED = 0.75;
export const MAX_ENGINE_SPEED = 1.25;

export interface Pace {
	/** For `SpeechRequest.speed`. */
	readonly speed: number;
	/** For the encoder: the ratio of its output's speed to its input's. */
	readonly tempo: number;
}

/**
 * Splits a caller's speed into the engine's part and the encoder's part. Beyond its natural range the engine speaks at its
 * limit and the encoder stretches or shortens the audio: twice the speed is exactly half the time.
 */
export function paceOf(speed: number): Pace {
	if (speed >= MIN_ENGINE_SPEED && speed <= MAX_ENGINE_SPEED) return { speed, tempo: 1 };
	return { speed: 1, tempo: speed };
}
