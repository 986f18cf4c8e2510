/**
 * The transcription capabilities of each provider: which times it reports, and its names for options. Data, no logic.
 * Sources: each provider's API reference (speech to text), and the settings of its package.
 */
import type { JSONObject } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";

export interface TranscriptionOptions {
	/** ISO 639-1; undefined: the provider detects it. */
	readonly language: string | undefined;
	readonly timings: "none" | "segment" | "word";
}

export interface TranscriptionCapabilities {
	/** The unit of the package's segments: words, segments, or the requested unit. */
	readonly times: "word" | "segment" | "asked";
	/** The text between two words; absent: a space. */
	readonly glue?: string;
	/** Returns options in the provider's own namespace. */
	readonly options: (requested: TranscriptionOptions) => Readonly<Record<string, JSONObject>>;
	/** A prefix of model names that the package adds by itself. */
	readonly prefix?: string;
}

const OPENAI: TranscriptionCapabilities = {
	times: "asked",
	options: ({ language, timings }) => ({
		openai: { ...ifDefined("language", language), ...(timings === "none" ? {} : { timestampGranularities: [timings] }) },
	}),
};
const GOOGLE: TranscriptionCapabilities = {
	times: "word",
	options: ({ language, timings }) => ({
		google: { ...(language === undefined ? {} : { languageCodes: [language] }), wordTimestamp: timings !== "none" },
	}),
};

const TRANSCRIPTION_CAPABILITIES: Readonly<Partial<Record<ProviderName, TranscriptionCapabilities>>> = {
	assemblyai: {
		times: "word",
		options: ({ language }) => ({
			assemblyai: language === undefined ? { languageDetection: true } : { languageCode: language },
		}),
	},
	azure: OPENAI,
	openai: OPENAI,
	deepgram: {
		times: "word",
		options: ({ language }) => ({
			deepgram: { punctuate: true, ...(language === undefined ? { detectLanguage: true } : { language }) },
		}),
	},
	/** Its words include the spaces between them. Sounds in brackets are included unless they are turned off. */
	elevenlabs: {
		times: "word",
		glue: "",
		options: ({ language, timings }) => ({
			elevenlabs: {
				...ifDefined("languageCode", language),
				diarize: false,
				tagAudioEvents: false,
				timestampsGranularity: timings === "none" ? "none" : "word",
			},
		}),
	},
	/** Without a language the package requests English. */
	fal: {
		times: "asked",
		prefix: "fal-ai/",
		options: ({ language, timings }) => ({
			fal: { language: language ?? null, diarize: false, chunkLevel: timings === "word" ? "word" : "segment" },
		}),
	},
	gladia: { times: "segment", options: ({ language }) => ({ gladia: ifDefined("language", language) }) },
	google: GOOGLE,
	"google-vertex": GOOGLE,
	groq: {
		times: "asked",
		options: ({ language, timings }) => ({
			groq: {
				...ifDefined("language", language),
				...(timings === "none"
					? { responseFormat: "json" }
					: { responseFormat: "verbose_json", timestampGranularities: [timings] }),
			},
		}),
	},
	/** Accepts a language or times, never both. */
	mistral: {
		times: "asked",
		options: ({ language, timings }) => ({
			mistral: timings === "none" ? ifDefined("language", language) : { timestampGranularities: [timings] },
		}),
	},
	revai: {
		times: "word",
		options: ({ language }) => ({ revai: { ...ifDefined("language", language), skip_diarization: true } }),
	},
	xai: { times: "word", options: ({ language }) => ({ xai: language === undefined ? {} : { language, format: true } }) },
};

/** Returns the capabilities; undefined if the provider has no transcription. */
export function transcriptionCapabilities(provider: ProviderName): TranscriptionCapabilities | undefined {
	return TRANSCRIPTION_CAPABILITIES[provider];
}

function ifDefined(name: string, value: string | undefined): JSONObject {
	return value === undefined ? {} : { [name]: value };
}
