/**
 * The speech capabilities of each provider: formats under its own names, speeds, and further parameters.
 * Sources: each provider's API reference (text to speech), and the settings of its package. fal: the pages of its
 * models (MiniMax Speech-02, Chatterbox HD, Orpheus, Qwen3 TTS, ElevenLabs).
 */

import type { JSONObject } from "@ai-sdk/provider";
import type { AudioFormatName } from "../../../catalog/types.ts";
import type { ProviderName } from "../../../config/providers.ts";
import { defined } from "../defined.ts";

/** The parts of a request that some providers expect under their own names. Absent: not requested. */
export interface SpeechOptions {
	readonly model: string;
	/** The provider's own name; null if a sample defines the voice. */
	readonly voice: string | null;
	/** The sample as base64 and as a data URL. */
	readonly sample: { readonly base64: string; readonly dataUrl: string } | null;
	/** The part of the speed that the provider supports; undefined: none. */
	readonly speed: number | undefined;
	readonly prompt?: string | undefined;
	readonly temperature?: number | undefined;
	readonly topP?: number | undefined;
	readonly language?: string | undefined;
}

export interface SpeechCapabilities {
	/** Maps our formats to the provider's names. A missing format is converted from `first`. */
	readonly formats: Readonly<Partial<Record<AudioFormatName, string>>>;
	readonly first: AudioFormatName;
	/** The speeds that it supports; null: only 1. */
	readonly speed: { readonly min: number; readonly max: number } | null;
	/** Accepts instructions on how to speak. */
	readonly prompt: boolean;
	readonly language: boolean;
	/** Accepts a sample with the request. */
	readonly sample: boolean;
	/** The place of the audio: in the body, in a file that the answer names, or inside JSON. */
	readonly audio: "answer" | "file" | "json";
	/** Returns options in the provider's own namespace. */
	readonly options?: (details: SpeechOptions) => Readonly<Record<string, JSONObject>>;
}

const ALL_FORMATS = { mp3: "mp3", opus: "opus", aac: "aac", flac: "flac", wav: "wav", pcm: "pcm" } as const;
/** Its Gemini models report the rate of their samples only in a WAV. */
const GEMINI: SpeechCapabilities = {
	formats: { wav: "wav" },
	first: "wav",
	speed: null,
	prompt: true,
	language: true,
	sample: false,
	audio: "json",
};
const OPENAI: SpeechCapabilities = {
	formats: ALL_FORMATS,
	first: "mp3",
	speed: { min: 0.25, max: 4 },
	prompt: true,
	language: false,
	sample: false,
	audio: "answer",
};

const SPEECH_CAPABILITIES: Readonly<Partial<Record<ProviderName, SpeechCapabilities>>> = {
	azure: OPENAI,
	openai: OPENAI,
	google: GEMINI,
	"google-vertex": GEMINI,
	deepgram: {
		formats: { mp3: "mp3", opus: "opus", flac: "flac", wav: "wav" },
		first: "wav",
		speed: { min: 0.7, max: 1.5 },
		prompt: false,
		language: true,
		sample: false,
		audio: "answer",
	},
	elevenlabs: {
		formats: { mp3: "mp3_44100_128", opus: "opus_48000_64", pcm: "pcm_24000" },
		first: "pcm",
		speed: { min: 0.7, max: 1.2 },
		prompt: false,
		language: true,
		sample: false,
		audio: "answer",
	},
	hume: {
		formats: { mp3: "mp3", wav: "wav" },
		first: "wav",
		speed: { min: 0.5, max: 2 },
		prompt: true,
		language: false,
		sample: false,
		audio: "answer",
	},
	lmnt: {
		formats: { mp3: "mp3", aac: "aac", wav: "wav" },
		first: "wav",
		speed: { min: 0.25, max: 2 },
		prompt: false,
		language: true,
		sample: false,
		audio: "answer",
		// If any option is set, the package sets all others to its defaults, the speed too.
		options: ({ temperature, topP, speed }) =>
			temperature === undefined && topP === undefined ? {} : { lmnt: defined({ temperature, topP, speed }) },
	},
	mistral: {
		formats: { mp3: "mp3", opus: "opus", flac: "flac", wav: "wav" },
		first: "wav",
		speed: null,
		prompt: false,
		language: false,
		sample: true,
		audio: "json",
		options: ({ sample }) => (sample === null ? {} : { mistral: { refAudio: sample.base64 } }),
	},
	xai: {
		formats: { mp3: "mp3", wav: "wav", pcm: "pcm" },
		first: "wav",
		speed: { min: 0.7, max: 1.5 },
		prompt: false,
		language: true,
		sample: false,
		audio: "answer",
		options: () => ({ xai: { sampleRate: 24_000 } }),
	},
};

/** fal runs models of many makers, each with fields of its own. The format is read from the file. */
const FAL: SpeechCapabilities = {
	formats: { mp3: "url" },
	first: "mp3",
	speed: null,
	prompt: false,
	language: false,
	sample: true,
	audio: "file",
	options: ({ prompt, temperature, topP, language, sample }) => ({
		fal: defined({ prompt, temperature, top_p: topP, language, audio_url: sample?.dataUrl }),
	}),
};
const FAL_ELEVENLABS: SpeechCapabilities = {
	...FAL,
	speed: { min: 0.7, max: 1.2 },
	sample: false,
	options: ({ language }) => ({ fal: defined({ language_code: language }) }),
};
const FAL_MINIMAX: SpeechCapabilities = {
	...FAL,
	speed: { min: 0.5, max: 2 },
	sample: false,
	options: ({ voice, speed, language }) => ({
		fal: {
			voice_setting: defined({ voice_id: voice ?? undefined, speed }),
			...defined({ language_boost: language }),
		},
	}),
};

/** Returns the capabilities; undefined if the provider has no speech. */
export function speechCapabilities(provider: ProviderName, model: string): SpeechCapabilities | undefined {
	if (provider !== "fal") return SPEECH_CAPABILITIES[provider];
	if (/\bminimax\b/.test(model)) return FAL_MINIMAX;
	return /\belevenlabs\b/.test(model) ? FAL_ELEVENLABS : FAL;
}
