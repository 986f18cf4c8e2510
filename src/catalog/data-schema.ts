/**
 * The schemas of the catalog's data files (`catalog/*.json`), in this program's own format. `text-model.ts` and
 * `media-model.ts` convert them to the answer of GET /models.
 */

import Type, { type Static } from "typebox";
import { closed } from "../schema/closed.ts";
import { MODEL_TYPES, REASONING_EFFORTS } from "./types.ts";

const Id = Type.String({ minLength: 1, maxLength: 256 });
const Usd = Type.Number({ minimum: 0, maximum: 1_000_000 });
const Count = Type.Integer({ minimum: 0 });
const Names = Type.Array(Type.String({ minLength: 1 }));
const Instant = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" });

const shared = {
	id: Id,
	/** The model is listed without any configuration. */
	listed: Type.Boolean(),
	name: Type.String({ minLength: 1 }),
	description: Type.Optional(Type.String()),
	source: Type.Optional(Type.String()),
	created: Count,
	privacy: Type.Enum(["private", "anonymized"]),
	beta: Type.Optional(Type.Boolean()),
	traits: Type.Optional(Names),
};

const Effort = Type.Enum([...REASONING_EFFORTS]);

const TextCapabilitiesDataSchema = closed({
	optimizedForCode: Type.Boolean(),
	quantization: Type.Enum(["fp4", "fp8", "fp16", "bf16", "int8", "int4", "not-available"]),
	supportsAudioInput: Type.Boolean(),
	supportsFunctionCalling: Type.Boolean(),
	supportsLogProbs: Type.Boolean(),
	supportsMultipleImages: Type.Boolean(),
	supportsReasoning: Type.Boolean(),
	supportsReasoningEffort: Type.Boolean(),
	supportsResponseSchema: Type.Boolean(),
	supportsTeeAttestation: Type.Boolean(),
	supportsE2EE: Type.Boolean(),
	supportsVision: Type.Boolean(),
	supportsVideoInput: Type.Boolean(),
	supportsWebSearch: Type.Boolean(),
	supportsXSearch: Type.Boolean(),
	reasoningEffortOptions: Type.Optional(Type.Array(Effort)),
	defaultReasoningEffort: Type.Optional(Effort),
	maxImages: Type.Optional(Type.Integer({ minimum: 1 })),
	maxVideos: Type.Optional(Type.Integer({ minimum: 1 })),
});

const TextModelDataSchema = closed({
	...shared,
	type: Type.Literal("text"),
	/** The built-in engine that runs it; absent: only an upstream can. */
	engine: Type.Optional(Type.Literal("embedded")),
	licence: Type.Optional(Type.String({ minLength: 1 })),
	tier: Type.Optional(Type.String({ minLength: 1 })),
	contextTokens: Type.Integer({ minimum: 1 }),
	maxCompletionTokens: Type.Optional(Type.Integer({ minimum: 1 })),
	temperature: Type.Number({ minimum: 0, maximum: 2 }),
	topP: Type.Number({ minimum: 0, maximum: 1 }),
	/** The model writes its thoughts into its text: `inline` between both tags, `opened` without the first. */
	thinkBlocks: Type.Optional(Type.Enum(["inline", "opened"])),
	/** `repair`: the gateway checks answers to a response_format; absent: the upstream does. */
	responseFormat: Type.Optional(Type.Enum(["native", "repair"])),
	capabilities: TextCapabilitiesDataSchema,
	/** USD per 1,000,000 tokens. */
	price: closed({
		input: Usd,
		output: Usd,
		cacheInput: Type.Optional(Usd),
		cacheWrite: Type.Optional(Usd),
	}),
});

const SpeechModelDataSchema = closed({
	...shared,
	type: Type.Literal("tts"),
	/** The built-in engine that runs it; absent: only an upstream can. */
	engine: Type.Optional(Type.Literal("embedded")),
	voices: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, uniqueItems: true }),
	defaultVoice: Type.String({ minLength: 1 }),
	formats: Names,
	defaultFormat: Type.String({ minLength: 1 }),
	accepts: closed({ prompt: Type.Boolean(), temperature: Type.Boolean(), topP: Type.Boolean() }),
	languages: Type.Optional(Type.Enum(["full_name", "iso_639_1"])),
	pcmSampleRateHz: Type.Optional(Type.Integer({ minimum: 8000 })),
	cloning: Type.Optional(
		closed({
			mode: Type.Enum(["zero_shot", "persistent"]),
			formats: Names,
			minSampleSeconds: Type.Number({ minimum: 0 }),
			retentionDays: Type.Integer({ minimum: 1 }),
		}),
	),
	limits: closed({ inputCharacters: Count, promptCharacters: Count, minSpeed: Type.Number(), maxSpeed: Type.Number() }),
	price: closed({ perMillionCharacters: Usd }),
});

const TranscriptionModelDataSchema = closed({
	...shared,
	type: Type.Literal("asr"),
	/** The granularity of `timestamps: true`; absent if it is not known. */
	timestamps: Type.Optional(Type.Enum(["word", "segment", "none"])),
	price: closed({ perAudioSecond: Usd }),
});

const EmbeddingModelDataSchema = closed({
	...shared,
	type: Type.Literal("embedding"),
	engine: Type.Optional(Type.Literal("embedded")),
	dimensions: Type.Integer({ minimum: 1 }),
	maxInputTokens: Type.Integer({ minimum: 1 }),
	customDimensions: Type.Optional(Type.Boolean()),
	price: closed({ input: Usd, output: Usd }),
});

const Quality = Type.Enum(["low", "medium", "high"]);
const ByResolution = Type.Record(Type.String(), Usd);
const ByQuality = Type.Record(
	Type.String(),
	closed({ low: Type.Optional(Usd), medium: Type.Optional(Usd), high: Type.Optional(Usd) }),
);
const ByFactor = closed({ "2x": Usd, "4x": Usd });

const tieredConstraints = {
	resolutions: Type.Optional(Names),
	defaultResolution: Type.Optional(Type.String({ minLength: 1 })),
	qualities: Type.Optional(Type.Array(Quality)),
	defaultQuality: Type.Optional(Quality),
};

const ImageModelDataSchema = closed({
	...shared,
	type: Type.Literal("image"),
	styleReferences: Type.Optional(Type.Boolean()),
	webSearch: Type.Optional(Type.Boolean()),
	constraints: closed({
		promptCharacterLimit: Count,
		steps: closed({ default: Count, max: Count }),
		widthHeightDivisor: Type.Integer({ minimum: 1 }),
		aspectRatios: Type.Optional(Names),
		defaultAspectRatio: Type.Optional(Type.String()),
		...tieredConstraints,
		maxStyleReferences: Type.Optional(Count),
		supportsStyleReferenceStrength: Type.Optional(Type.Boolean()),
	}),
	price: closed({
		generation: Type.Optional(Usd),
		byResolution: Type.Optional(ByResolution),
		byQuality: Type.Optional(ByQuality),
		upscale: ByFactor,
	}),
});

const EditModelDataSchema = closed({
	...shared,
	type: Type.Literal("inpaint"),
	/** The engine that runs it here; absent: only an upstream can. */
	engine: Type.Optional(Type.Literal("embedded")),
	constraints: closed({
		aspectRatios: Names,
		promptCharacterLimit: Count,
		combineImages: Type.Boolean(),
		maxInputImages: Type.Optional(Type.Integer({ minimum: 1 })),
		singleImageAspectRatio: Type.Optional(Type.Boolean()),
		...tieredConstraints,
	}),
	price: closed({
		edit: Usd,
		byResolution: Type.Optional(ByResolution),
		byQuality: Type.Optional(ByQuality),
		extraImage: Type.Optional(closed({ included: Count, each: Usd })),
	}),
});

const UpscaleModelDataSchema = closed({
	...shared,
	type: Type.Literal("upscale"),
	/** The engine that runs it here; absent: only an upstream can. */
	engine: Type.Optional(Type.Literal("embedded")),
	constraints: closed({
		scales: Type.Array(Type.Integer({ minimum: 1 })),
		defaultScale: Type.Integer({ minimum: 1 }),
		minInputPixels: Count,
		maxOutputPixels: Count,
		maxFileMb: Count,
		creativity: closed({ min: Type.Number(), max: Type.Number(), default: Type.Number() }),
	}),
	price: closed({ generation: Usd, upscale: ByFactor }),
});

const MusicModelDataSchema = closed({
	...shared,
	type: Type.Literal("music"),
	/** Absent if only the model's price is known. */
	features: Type.Optional(
		closed({
			lyrics: Type.Boolean(),
			lyricsRequired: Type.Boolean(),
			forceInstrumental: Type.Boolean(),
			lyricsOptimizer: Type.Boolean(),
			languageCode: Type.Boolean(),
			speed: Type.Boolean(),
			loop: Type.Optional(Type.Boolean()),
		}),
	),
	defaultSpeed: Type.Optional(Type.Number()),
	minSpeed: Type.Optional(Type.Number()),
	maxSpeed: Type.Optional(Type.Number()),
	minSeconds: Type.Optional(Count),
	maxSeconds: Type.Optional(Count),
	defaultSeconds: Type.Optional(Count),
	secondsOptions: Type.Optional(Type.Array(Count)),
	formats: Type.Optional(Names),
	defaultFormat: Type.Optional(Type.String()),
	promptCharacterLimit: Type.Optional(Count),
	minPromptCharacters: Type.Optional(Count),
	lyricsCharacterLimit: Type.Optional(Count),
	voices: Type.Optional(Names),
	defaultVoice: Type.Optional(Type.String()),
	/** Exactly one member. */
	price: Type.Object(
		{
			generation: Type.Optional(Usd),
			perSecond: Type.Optional(Usd),
			perThousandCharacters: Type.Optional(Usd),
			byDuration: Type.Optional(Type.Array(closed({ minSeconds: Count, maxSeconds: Count, usd: Usd }), { minItems: 1 })),
		},
		{ additionalProperties: false, minProperties: 1, maxProperties: 1 },
	),
});

const VideoModelDataSchema = closed({
	...shared,
	type: Type.Literal("video"),
	constraints: closed({
		modelType: Type.Enum(["image-to-video", "text-to-video", "video"]),
		aspectRatios: Names,
		resolutions: Names,
		durations: Names,
		audio: Type.Boolean(),
		audioConfigurable: Type.Boolean(),
		promptCharacterLimit: Type.Optional(Count),
	}),
});

/** One schema per model type, so that an error names the expectation of the entry's type. */
export const MODEL_DATA_SCHEMAS = {
	text: TextModelDataSchema,
	tts: SpeechModelDataSchema,
	asr: TranscriptionModelDataSchema,
	embedding: EmbeddingModelDataSchema,
	image: ImageModelDataSchema,
	inpaint: EditModelDataSchema,
	upscale: UpscaleModelDataSchema,
	music: MusicModelDataSchema,
	video: VideoModelDataSchema,
} as const;

export const ModelFileSchema = closed({
	about: Type.String(),
	models: Type.Array(Type.Object({ id: Id, type: Type.Enum([...MODEL_TYPES]) })),
});

const IdByName = Type.Optional(Type.Record(Type.String(), Id));

export const MappingFileSchema = closed({
	about: Type.String(),
	mappings: closed({
		asr: IdByName,
		embedding: IdByName,
		image: IdByName,
		music: IdByName,
		text: IdByName,
		tts: IdByName,
		upscale: IdByName,
		inpaint: IdByName,
		video: IdByName,
	}),
});

const Stars = closed({ averageRating: Type.Number(), imports: Count, ratingCount: Count, ratingSum: Type.Number() });

const CharacterReviewDataSchema = closed({
	id: Id,
	createdAt: Instant,
	username: Type.String({ minLength: 1, maxLength: 200 }),
	rating: Type.Integer({ minimum: 1, maximum: 5 }),
	message: Type.Optional(Type.String()),
	locale: Type.Optional(Type.String()),
	userAvatarUrl: Type.Optional(Type.String()),
});

const CharacterDataSchema = closed({
	id: Id,
	slug: Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", maxLength: 100 }),
	name: Type.String({ minLength: 1, maxLength: 200 }),
	description: Type.String(),
	author: Type.String(),
	shareUrl: Type.Optional(Type.String()),
	photoUrl: Type.Optional(Type.String()),
	/** A model id, or a trait of type text. */
	modelId: Id,
	adult: Type.Optional(Type.Boolean()),
	featured: Type.Optional(Type.Boolean()),
	webEnabled: Type.Optional(Type.Boolean()),
	categories: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }))),
	tags: Type.Array(Type.String({ minLength: 1, maxLength: 100 })),
	createdAt: Instant,
	updatedAt: Instant,
	/** Absent: calculated from the reviews. */
	stats: Type.Optional(Stars),
	reviews: Type.Optional(Type.Array(CharacterReviewDataSchema)),
	/** The system prompt, which is never shown. */
	prompt: Type.String({ minLength: 1 }),
});

export const CharacterFileSchema = closed({ about: Type.Optional(Type.String()), characters: Type.Array(CharacterDataSchema) });

export type TextModelData = Static<typeof TextModelDataSchema>;
export type SpeechModelData = Static<typeof SpeechModelDataSchema>;
export type TranscriptionModelData = Static<typeof TranscriptionModelDataSchema>;
export type EmbeddingModelData = Static<typeof EmbeddingModelDataSchema>;
export type ImageModelData = Static<typeof ImageModelDataSchema>;
export type EditModelData = Static<typeof EditModelDataSchema>;
export type UpscaleModelData = Static<typeof UpscaleModelDataSchema>;
export type MusicModelData = Static<typeof MusicModelDataSchema>;
export type VideoModelData = Static<typeof VideoModelDataSchema>;
export type MediaModelData =
	| SpeechModelData
	| TranscriptionModelData
	| EmbeddingModelData
	| ImageModelData
	| EditModelData
	| UpscaleModelData
	| MusicModelData
	| VideoModelData;
export type ModelData = TextModelData | MediaModelData;
export type CharacterData = Static<typeof CharacterDataSchema>;
