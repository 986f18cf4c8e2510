/**
 * Models as the program uses them, merged in this precedence: configuration, catalog data, discovered lists (docs/models.md).
 */
import type { UpstreamConfig } from "../config/index.ts";
import type { PicoPrice } from "../ledger/nano.ts";

export const MODEL_TYPES = ["asr", "embedding", "image", "music", "text", "tts", "upscale", "inpaint", "video"] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/**
 * Capabilities of a text model. `null`: unknown (a discovered model), shown as the documentation says and never a reason to
 * refuse.
 */
export interface TextCapabilities {
	readonly optimizedForCode: boolean;
	readonly quantization: string;
	readonly supportsAudioInput: boolean | null;
	readonly supportsFunctionCalling: boolean | null;
	readonly supportsLogProbs: boolean | null;
	readonly supportsMultipleImages: boolean | null;
	readonly supportsReasoning: boolean | null;
	readonly supportsReasoningEffort: boolean | null;
	readonly supportsResponseSchema: boolean | null;
	readonly supportsTeeAttestation: boolean;
	readonly supportsE2EE: boolean;
	readonly supportsVision: boolean | null;
	readonly supportsVideoInput: boolean | null;
	readonly supportsWebSearch: boolean;
	readonly supportsXSearch: boolean;
	readonly reasoningEffortOptions?: readonly ReasoningEffort[];
	readonly defaultReasoningEffort?: ReasoningEffort;
	readonly maxImages?: number;
	readonly maxVideos?: number;
}

/** Prices of a text model in pico-USD per token. */
export interface TextPrices {
	readonly input: PicoPrice;
	readonly output: PicoPrice;
	readonly cacheInput?: PicoPrice;
	readonly cacheWrite?: PicoPrice;
	readonly extended?: {
		readonly thresholdTokens: number;
		readonly input: PicoPrice;
		readonly output: PicoPrice;
		readonly cacheInput?: PicoPrice;
		readonly cacheWrite?: PicoPrice;
	};
}

/** One way to run a model: an upstream and its name for the model. */
export interface ModelTarget {
	/** Name of the upstream in the config, or `embedded`. */
	readonly upstream: string;
	readonly model: string;
	/** Share among targets of the same order; default 1. */
	readonly weight: number;
	/** Lower goes first; default 0. */
	readonly order: number;
	/** For chat: the kind of server that the upstream's list reveals, if the configuration names none. */
	readonly dialect?: UpstreamConfig["dialect"];
	/** For speech: the model's voice -> the upstream's name for it; other voices are sent unchanged. */
	readonly voices?: Readonly<Record<string, string>>;
	/** For speech: the formats that the upstream makes; absent: all. */
	readonly formats?: readonly AudioFormatName[];
	/** For images: the upstream's protocol; absent: OpenAI's, or its provider's. */
	readonly protocol?: "openai" | "comfyui";
	/** For images: sizes like `1024x1024` that the upstream makes; absent: any; empty: none is sent. */
	readonly sizes?: readonly string[];
	/** For images: the number of input images that the upstream accepts; absent: the default of its protocol. */
	readonly pictures?: number;
	/** For images: parameters for a provider or workflow, by the upstream's own names (docs/images.md, Upstreams). */
	readonly parameters?: Readonly<Record<string, string | number | boolean>>;
	/** For ComfyUI: the workflow file, and the node whose images count; absent: any. */
	readonly workflow?: string;
	readonly output?: string;
	/** For speech: how the upstream receives a sample; absent: it does not clone voices. */
	readonly cloning?: "ref_audio" | "voice_file" | "registered";
}

export type ImageQuality = "low" | "medium" | "high";

/** Prices of one image in pico-USD, by tier. */
export interface ImagePrices {
	/** The price if the model has no tiers. */
	readonly base: PicoPrice;
	/** By resolution; empty if it has none. */
	readonly byResolution: Readonly<Record<string, PicoPrice>>;
	/** By resolution, then quality; if there is any, only these count. */
	readonly byQuality: Readonly<Record<string, Readonly<Record<string, PicoPrice>>>>;
	/** The price of each input image beyond `included`; null: nothing. */
	readonly extraImage: { readonly included: number; readonly each: PicoPrice } | null;
}

/** What a model that edits or generates images accepts. */
export interface ImageProperties {
	/** Ratios like `16:9`, and `auto`; empty if sizes are in pixels. */
	readonly aspectRatios: readonly string[];
	/** null: the first ratio. */
	readonly defaultAspectRatio: string | null;
	/** Empty if it has no tiers. */
	readonly resolutions: readonly string[];
	/** `1K` if it has no tiers. */
	readonly defaultResolution: string;
	/** Empty if it has none. */
	readonly qualities: readonly ImageQuality[];
	readonly defaultQuality: ImageQuality | null;
	/** Unicode code points. */
	readonly promptCharacterLimit: number;
	/** False: it accepts one image. */
	readonly combinesImages: boolean;
	/** null: no number of steps is sent. */
	readonly maxSteps: number | null;
	/** Widths and heights in pixels are multiples of this. */
	readonly sizeDivisor: number;
	readonly prices: ImagePrices;
}

/** Prices of one enlargement. */
export interface UpscaleProperties {
	readonly x2: PicoPrice;
	readonly x4: PicoPrice;
}

export type AudioFormatName = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";

export interface Deprecation {
	readonly autoRemap: boolean;
	readonly date: string;
	readonly removesAt: string;
	readonly startsAt?: string;
	readonly replacementModelId?: string;
}

interface ModelBase {
	readonly id: string;
	readonly name: string;
	readonly created: number;
	readonly traits: readonly string[];
	/** XS, S, M, L or another tier of the config; absent: `limits.default`. */
	readonly tier?: string;
	readonly targets: readonly ModelTarget[];
	/** True if nothing that is configured or built in serves it. */
	readonly offline: boolean;
	/** Why it is offline and what would change that, for its caller and for the operator. */
	readonly offlineReason?: string;
	readonly deprecation?: Deprecation;
	/** The object that GET /models returns for it, built once. */
	readonly public: Readonly<Record<string, unknown>>;
}

export interface TextModel extends ModelBase {
	readonly type: "text";
	readonly capabilities: TextCapabilities;
	readonly prices: TextPrices;
	/** null: unknown (a discovered model whose server does not report it). */
	readonly contextTokens: number | null;
	readonly maxCompletionTokens: number | null;
	/**
	 * The model writes its thoughts into its text: `inline` between both tags, `opened` without the first; absent: it does not.
	 */
	readonly thinkBlocks?: "inline" | "opened";
	/** True if the gateway checks answers to a response_format and retries once; otherwise the upstream does. */
	readonly repairsFormat?: boolean;
	/** True: PDF files of a chat are sent unchanged; otherwise their text is. */
	readonly readsFiles?: boolean;
}

/** The voices, fields and formats of a speech model. */
export interface SpeechProperties {
	readonly voices: readonly string[];
	readonly defaultVoice: string;
	/** Fields that are sent to its upstream; for other models they are ignored. */
	readonly accepts: {
		readonly prompt: boolean;
		readonly temperature: boolean;
		readonly topP: boolean;
		readonly language: boolean;
	};
	/** Samples per second of its pcm and wav; null: 24,000. */
	readonly sampleRate: number | null;
	readonly cloning: VoiceCloning | null;
	/** The price of one character of input: a Unicode code point. */
	readonly characterPrice: PicoPrice;
}

export interface VoiceCloning {
	/** `persistent`: each use of a voice restarts its lifetime. */
	readonly mode: "zero_shot" | "persistent";
	/** Containers of samples. */
	readonly formats: readonly string[];
	readonly days: number;
}

export interface SpeechModel extends ModelBase {
	readonly type: "tts";
	/** null if its voices are unknown: it is offline then. */
	readonly speech: SpeechProperties | null;
}

export interface TranscriptionProperties {
	/** The granularity of `timestamps: true`. */
	readonly timestamps: "word" | "segment" | "none";
	/** The price of one millisecond of audio. */
	readonly millisecondPrice: PicoPrice;
}

export interface TranscriptionModel extends ModelBase {
	readonly type: "asr";
	readonly transcription: TranscriptionProperties;
}

/** The limits and price of an embedding model. */
export interface EmbeddingProperties {
	/** The length of a vector; null: unknown (a discovered model). */
	readonly dimensions: number | null;
	/** The limit of each text; null: unknown. */
	readonly maxInputTokens: number | null;
	/** True: `dimensions` of a request shortens the vectors. */
	readonly customDimensions: boolean;
	readonly tokenPrice: PicoPrice;
}

export interface EmbeddingModel extends ModelBase {
	readonly type: "embedding";
	readonly embedding: EmbeddingProperties;
}

/** A model that edits or generates images. */
export interface PictureModel<T extends "inpaint" | "image" = "inpaint" | "image"> extends ModelBase {
	readonly type: T;
	readonly image: ImageProperties;
}

export interface UpscaleModel extends ModelBase {
	readonly type: "upscale";
	readonly upscale: UpscaleProperties;
}

export interface MediaModel extends ModelBase {
	readonly type: Exclude<ModelType, "text" | "tts" | "asr" | "embedding" | "inpaint" | "image" | "upscale">;
}

export type Model = TextModel | SpeechModel | TranscriptionModel | EmbeddingModel | PictureModel | UpscaleModel | MediaModel;

/** The model object of one type. */
export type ModelOf<T extends ModelType> = T extends "text"
	? TextModel
	: T extends "tts"
		? SpeechModel
		: T extends "asr"
			? TranscriptionModel
			: T extends "embedding"
				? EmbeddingModel
				: T extends "inpaint" | "image"
					? PictureModel<T>
					: T extends "upscale"
						? UpscaleModel
						: MediaModel;

/** A model in an upstream's own list. */
export interface DiscoveredModel {
	readonly id: string;
	/** From the server, otherwise from the id; chat if neither says. */
	readonly type: "text" | "embedding" | "tts" | "image";
	/** Unix seconds; null: the server does not report it. */
	readonly created: number | null;
	readonly contextTokens: number | null;
	readonly maxCompletionTokens: number | null;
	/** Capabilities that the server reports as present or absent; others are left out. */
	readonly capabilities?: Partial<TextCapabilities>;
	/** The kind of server that the list reveals; absent: unknown. */
	readonly server?: UpstreamConfig["dialect"];
	/** For a speech model, if its server lists them. */
	readonly voices?: readonly string[];
}

/** A review of a character. */
export interface CharacterReview {
	readonly id: string;
	readonly characterId: string;
	readonly createdAt: string;
	/** True if the caller wrote it, which never happens in this service. */
	readonly isOwner: boolean;
	readonly locale: string | null;
	readonly message: string | null;
	/** 1 to 5. */
	readonly rating: number;
	readonly userAvatarUrl: string | null;
	readonly username: string;
}

export interface Character {
	readonly id: string;
	readonly name: string;
	readonly slug: string;
	readonly description: string;
	readonly author: string;
	readonly shareUrl: string;
	readonly photoUrl: string;
	readonly modelId: string;
	readonly adult: boolean;
	readonly featured: boolean;
	readonly webEnabled: boolean;
	readonly createdAt: string;
	readonly updatedAt: string;
	readonly tags: readonly string[];
	readonly stats: {
		readonly averageRating: number;
		readonly imports: number;
		readonly ratingCount: number;
		readonly ratingSum: number;
		readonly userRating: number;
	};
}
