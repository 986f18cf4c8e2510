/** The properties of audio models: the catalog's data, overridden by the operator's settings. */
import type { ModelEntry } from "../config/index.ts";
import { picoPerUnit } from "../ledger/nano.ts";
import type { MediaModelData, SpeechModelData } from "./data-schema.ts";
import type { Listing } from "./discover-models.ts";
import type { SpeechProperties, TranscriptionProperties } from "./types.ts";

const PRICE_UNIT_CHARACTERS = 1_000_000;
const PRICE_UNIT_MS = 1_000;
/** The timestamps of models for which the data has none. */
const TIMESTAMPS_BY_DEFAULT: Readonly<Record<string, TranscriptionProperties["timestamps"]>> = { "stt-xai-v1": "word" };

/** The voices of OpenAI's models, which other servers of its API accept, too. */
const OPENAI_VOICES = ["alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer", "verse"];

/**
 * Returns the properties of a speech model; null if neither the catalog, the operator nor an upstream lists it and its voices.
 */
export function speechProperties(
	entry: ModelEntry | undefined,
	data: MediaModelData | undefined,
	listings: readonly Listing[],
): SpeechProperties | null {
	const modelData = data?.type === "tts" ? data : undefined;
	const own = entry?.speech;
	const listed = listings.find(({ model }) => model.type === "tts")?.model;
	const voices = own?.voices ?? modelData?.voices ?? (listed === undefined ? undefined : (listed.voices ?? OPENAI_VOICES));
	if (voices === undefined) return null;
	return {
		voices,
		defaultVoice: own?.defaultVoice ?? defaultOf(voices, modelData),
		accepts: {
			prompt: own?.prompt ?? modelData?.accepts.prompt ?? listed !== undefined,
			temperature: own?.temperature ?? modelData?.accepts.temperature ?? false,
			topP: own?.topP ?? modelData?.accepts.topP ?? false,
			language: modelData === undefined || modelData.languages !== undefined,
		},
		sampleRate: modelData?.pcmSampleRateHz ?? null,
		cloning: modelData?.cloning
			? { mode: modelData.cloning.mode, formats: modelData.cloning.formats, days: modelData.cloning.retentionDays }
			: null,
		characterPrice: picoPerUnit(own?.perMillionCharacters ?? modelData?.price.perMillionCharacters ?? 0, PRICE_UNIT_CHARACTERS),
	};
}

function defaultOf(voices: readonly string[], modelData: SpeechModelData | undefined): string {
	return modelData !== undefined && voices.includes(modelData.defaultVoice) ? modelData.defaultVoice : (voices[0] ?? "");
}

export function transcriptionProperties(
	id: string,
	entry: ModelEntry | undefined,
	data: MediaModelData | undefined,
): TranscriptionProperties {
	const modelData = data?.type === "asr" ? data : undefined;
	const own = entry?.transcription;
	return {
		timestamps: own?.timestamps ?? modelData?.timestamps ?? TIMESTAMPS_BY_DEFAULT[id] ?? "segment",
		millisecondPrice: picoPerUnit(own?.perAudioSecond ?? modelData?.price.perAudioSecond ?? 0, PRICE_UNIT_MS),
	};
}
