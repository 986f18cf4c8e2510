/** The answer of GET /models for models other than chat (docs/models.md). Prices are `{usd, diem}` pairs of equal numbers. */
import type {
	EditModelData,
	EmbeddingModelData,
	ImageModelData,
	MediaModelData,
	MusicModelData,
	SpeechModelData,
	UpscaleModelData,
	VideoModelData,
} from "./data-schema.ts";
import type { AudioFormatName, SpeechProperties, TranscriptionProperties } from "./types.ts";

/** Every speech model supports each of these formats; the first is the default. */
const AUDIO_FORMATS: readonly AudioFormatName[] = ["mp3", "opus", "aac", "flac", "wav", "pcm"];

/** An amount in the API's price format: one diem is one USD of use. */
export interface PricePair {
	readonly usd: number;
	readonly diem: number;
}

export function pricePair(usd: number): PricePair {
	return { usd, diem: usd };
}

/** Returns the members of `model_spec` of a speech model that the operator may have set or changed. */
export function ownSpeechSpec(properties: SpeechProperties): Record<string, unknown> {
	return {
		voices: properties.voices,
		default_voice: properties.defaultVoice,
		supported_formats: AUDIO_FORMATS,
		default_format: AUDIO_FORMATS[0],
		supports_custom_voice_id: false,
		capabilities: {
			voice_cloning: properties.cloning !== null,
			supportsPromptParam: properties.accepts.prompt,
			supportsTemperatureParam: properties.accepts.temperature,
			supportsTopPParam: properties.accepts.topP,
		},
		// pico-USD per character is micro-USD per million.
		pricing: { input: pricePair(properties.characterPrice / 1_000_000) },
	};
}

/** Returns the same members of a transcription model. */
export function ownTranscriptionSpec(properties: TranscriptionProperties): Record<string, unknown> {
	// pico-USD per millisecond is nano-USD per second.
	return { pricing: { per_audio_second: pricePair(properties.millisecondPrice / 1_000_000_000) } };
}

/** Returns the members of `model_spec` that depend on the model's type. */
export function mediaSpec(model: MediaModelData): Record<string, unknown> {
	switch (model.type) {
		case "tts":
			return speechSpec(model);
		case "asr":
			return { pricing: { per_audio_second: pricePair(model.price.perAudioSecond) } };
		case "embedding":
			return embeddingSpec(model);
		case "image":
			return imageSpec(model);
		case "inpaint":
			return editSpec(model);
		case "upscale":
			return upscaleSpec(model);
		case "music":
			return musicSpec(model);
		case "video":
			return videoSpec(model);
	}
}

function speechSpec(model: SpeechModelData): Record<string, unknown> {
	return {
		voices: model.voices,
		default_voice: model.defaultVoice,
		supported_formats: model.formats,
		default_format: model.defaultFormat,
		supports_custom_voice_id: false,
		...(model.cloning && {
			voice_cloning: {
				mode: model.cloning.mode,
				accepted_formats: model.cloning.formats,
				min_sample_seconds: model.cloning.minSampleSeconds,
				retention_days: model.cloning.retentionDays,
			},
		}),
		capabilities: {
			voice_cloning: model.cloning !== undefined,
			supportsPromptParam: model.accepts.prompt,
			supportsTemperatureParam: model.accepts.temperature,
			supportsTopPParam: model.accepts.topP,
		},
		constraints: {
			max_input_characters: model.limits.inputCharacters,
			max_prompt_characters: model.limits.promptCharacters,
			min_speed: model.limits.minSpeed,
			max_speed: model.limits.maxSpeed,
		},
		pricing: { input: pricePair(model.price.perMillionCharacters) },
	};
}

function embeddingSpec(model: EmbeddingModelData): Record<string, unknown> {
	return {
		embeddingDimensions: model.dimensions,
		maxInputTokens: model.maxInputTokens,
		...(model.customDimensions && { supportsCustomDimensions: true }),
		pricing: { input: pricePair(model.price.input), output: pricePair(model.price.output) },
	};
}

function imageSpec(model: ImageModelData): Record<string, unknown> {
	const { generation, upscale } = model.price;
	return {
		...(model.styleReferences && { supportsStyleReferences: true }),
		...(model.webSearch && { supportsWebSearch: true }),
		constraints: model.constraints,
		pricing: {
			...(generation !== undefined && { generation: pricePair(generation) }),
			...tieredPrices(model.price),
			upscale: pairs(upscale),
		},
	};
}

function editSpec(model: EditModelData): Record<string, unknown> {
	const { edit, extraImage } = model.price;
	return {
		constraints: model.constraints,
		pricing: {
			inpaint: pricePair(edit),
			...tieredPrices(model.price),
			...(extraImage && { inputImages: { included: extraImage.included, additional: pricePair(extraImage.each) } }),
		},
	};
}

function upscaleSpec(model: UpscaleModelData): Record<string, unknown> {
	return { pricing: { generation: pricePair(model.price.generation), upscale: pairs(model.price.upscale) } };
}

function musicSpec(model: MusicModelData): Record<string, unknown> {
	const { features } = model;
	return {
		...(features && {
			supports_lyrics: features.lyrics,
			lyrics_required: features.lyricsRequired,
			supports_force_instrumental: features.forceInstrumental,
			...(features.loop !== undefined && { supports_loop: features.loop }),
			supports_language_code: features.languageCode,
			supports_speed: features.speed,
		}),
		...definedMembers({
			default_speed: model.defaultSpeed,
			min_speed: model.minSpeed,
			max_speed: model.maxSpeed,
			min_duration: model.minSeconds,
			max_duration: model.maxSeconds,
			default_duration: model.defaultSeconds,
			duration_options: model.secondsOptions,
			supported_formats: model.formats,
			default_format: model.defaultFormat,
			prompt_character_limit: model.promptCharacterLimit,
			min_prompt_length: model.minPromptCharacters,
			lyrics_character_limit: model.lyricsCharacterLimit,
			voices: model.voices,
			default_voice: model.defaultVoice,
		}),
		pricing: musicPrices(model.price),
	};
}

function musicPrices(price: MusicModelData["price"]): Record<string, unknown> {
	if (price.generation !== undefined) return { generation: pricePair(price.generation) };
	if (price.perSecond !== undefined) return { per_second: pricePair(price.perSecond) };
	if (price.perThousandCharacters !== undefined) return { per_thousand_characters: pricePair(price.perThousandCharacters) };
	const steps = (price.byDuration ?? []).map(({ minSeconds, maxSeconds, usd }) => [
		String(maxSeconds),
		{ ...pricePair(usd), min_seconds: minSeconds, max_seconds: maxSeconds },
	]);
	return { durations: Object.fromEntries(steps) };
}

function videoSpec(model: VideoModelData): Record<string, unknown> {
	const { constraints } = model;
	return {
		constraints: {
			aspect_ratios: constraints.aspectRatios,
			resolutions: constraints.resolutions,
			durations: constraints.durations,
			model_type: constraints.modelType,
			audio: constraints.audio,
			audio_configurable: constraints.audioConfigurable,
			...definedMembers({ prompt_character_limit: constraints.promptCharacterLimit }),
		},
	};
}

function tieredPrices(price: Pick<EditModelData["price"], "byResolution" | "byQuality">): Record<string, unknown> {
	const quality = Object.entries(price.byQuality ?? {}).map(([resolution, levels]) => [resolution, pairs(levels)]);
	return {
		...(price.byResolution && { resolutions: pairs(price.byResolution) }),
		...(price.byQuality && { quality: Object.fromEntries(quality) }),
	};
}

function pairs(prices: Readonly<Record<string, number>>): Record<string, PricePair> {
	return Object.fromEntries(Object.entries(prices).map(([name, usd]) => [name, pricePair(usd)]));
}

function definedMembers(members: Record<string, unknown>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
