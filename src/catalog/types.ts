/**
 * Models as the program uses them. Built by merging config > catalog data > discovered (docs/models.md).
 */
import type { PicoPrice } from "../ledger/nano.ts";

export const MODEL_TYPES = ["asr", "embedding", "image", "music", "text", "tts", "upscale", "inpaint", "video"] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Capabilities of a text model. `null`: unknown (a discovered model): shown as the spec says, never refused on. */
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

/** One way to run a model: an upstream and the name that it knows the model by. */
export interface ModelTarget {
	/** Name of the upstream in the config, or `embedded`. */
	readonly upstream: string;
	readonly model: string;
	/** Share among targets of the same order; default 1. */
	readonly weight: number;
	/** Lower goes first; default 0. */
	readonly order: number;
	/** Of speech: the model's voice -> the upstream's name for it; others go as they are. */
	readonly voices?: Readonly<Record<string, string>>;
	/** Of speech: what the upstream makes; absent: all formats. */
	readonly formats?: readonly AudioFormatName[];
	/** Of images: what the upstream speaks; absent: OpenAI's protocol, or its provider's. */
	readonly protocol?: "openai" | "comfyui";
	/** Of images: sizes like `1024x1024` that the upstream makes; absent: any; empty: it is told none. */
	readonly sizes?: readonly string[];
	/** Of images: how many input pictures the upstream takes; absent: what is known of its protocol. */
	readonly pictures?: number;
	/** Of images: what a provider or a workflow is told, by the upstream's own names (docs/images.md, Upstreams). */
	readonly parameters?: Readonly<Record<string, string | number | boolean>>;
	/** Of ComfyUI: the file of the workflow, and the node whose pictures count; absent: any. */
	readonly workflow?: string;
	readonly output?: string;
	/** Of speech: how the upstream takes a sample; absent: it clones no voice. */
	readonly cloning?: "ref_audio" | "voice_file" | "registered";
}

export type ImageQuality = "low" | "medium" | "high";

/** Prices of pictures in pico-USD: of one, as its tiers say. */
export interface ImagePrices {
	/** Where the model has no tiers. */
	readonly base: PicoPrice;
	/** By resolution; empty where it has none. */
	readonly byResolution: Readonly<Record<string, PicoPrice>>;
	/** By resolution, then quality; where there is any, it alone counts. */
	readonly byQuality: Readonly<Record<string, Readonly<Record<string, PicoPrice>>>>;
	/** What each input picture beyond `included` costs; null: nothing. */
	readonly extraImage: { readonly included: number; readonly each: PicoPrice } | null;
}

/** What a model that edits or makes pictures takes. */
export interface ImageProperties {
	/** Like `16:9`, and `auto`; empty where sizes are in pixels. */
	readonly aspectRatios: readonly string[];
	/** null: the first. */
	readonly defaultAspectRatio: string | null;
	/** Empty where it has no tiers. */
	readonly resolutions: readonly string[];
	/** `1K` where it has no tiers. */
	readonly defaultResolution: string;
	/** Empty where it has none. */
	readonly qualities: readonly ImageQuality[];
	readonly defaultQuality: ImageQuality | null;
	/** Unicode code points. */
	readonly promptCharacterLimit: number;
	/** False: it takes one picture. */
	readonly combinesImages: boolean;
	/** null: it is not told. */
	readonly maxSteps: number | null;
	/** Of widths and heights in pixels. */
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
	/** True where nothing that is configured or built in serves it. */
	readonly offline: boolean;
	/** Why it is offline and what brings it: for the caller of it, and for the operator. */
	readonly offlineReason?: string;
	readonly deprecation?: Deprecation;
	/** The object that GET /models answers for it, built once. */
	readonly public: Readonly<Record<string, unknown>>;
}

export interface TextModel extends ModelBase {
	readonly type: "text";
	readonly capabilities: TextCapabilities;
	readonly prices: TextPrices;
	/** null: unknown (a discovered model whose server does not tell). */
	readonly contextTokens: number | null;
	readonly maxCompletionTokens: number | null;
	/** It writes its thoughts into its text: `inline` between both tags, `opened` without the first; absent: it does not. */
	readonly thinkBlocks?: "inline" | "opened";
	/** True where answers to a response_format are checked here and asked for once more; else the upstream sees to them. */
	readonly repairsFormat?: boolean;
	/** True: PDF files of a chat go to it as they are; else their text does. */
	readonly readsFiles?: boolean;
}

/** What a speech model says and takes. */
export interface SpeechProperties {
	readonly voices: readonly string[];
	readonly defaultVoice: string;
	/** Fields that go to its upstream; of other models they are ignored. */
	readonly accepts: {
		readonly prompt: boolean;
		readonly temperature: boolean;
		readonly topP: boolean;
		readonly language: boolean;
	};
	/** Samples a second of its pcm and wav; null: 24,000. */
	readonly sampleRate: number | null;
	readonly cloning: VoiceCloning | null;
	/** Of one character of input: a Unicode code point. */
	readonly characterPrice: PicoPrice;
}

export interface VoiceCloning {
	/** `persistent`: each use of a voice restarts its days. */
	readonly mode: "zero_shot" | "persistent";
	/** Containers of samples. */
	readonly formats: readonly string[];
	readonly days: number;
}

export interface SpeechModel extends ModelBase {
	readonly type: "tts";
	/** null where nobody tells its voices: it is offline then. */
	readonly speech: SpeechProperties | null;
}

export interface TranscriptionProperties {
	/** What `timestamps: true` gives. */
	readonly timestamps: "word" | "segment" | "none";
	/** Of one millisecond of audio. */
	readonly millisecondPrice: PicoPrice;
}

export interface TranscriptionModel extends ModelBase {
	readonly type: "asr";
	readonly transcription: TranscriptionProperties;
}

/** What an embedding model takes and costs. */
export interface EmbeddingProperties {
	/** Numbers of a vector; null: unknown (a discovered model). */
	readonly dimensions: number | null;
	/** Of each text; null: unknown. */
	readonly maxInputTokens: number | null;
	/** True: `dimensions` of a request shortens the vectors. */
	readonly customDimensions: boolean;
	readonly tokenPrice: PicoPrice;
}

export interface EmbeddingModel extends ModelBase {
	readonly type: "embedding";
	readonly embedding: EmbeddingProperties;
}

/** A model that edits pictures, or makes them. */
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

/** A model as an upstream's own list tells it. */
export interface DiscoveredModel {
	readonly id: string;
	/** As the server says, else as its id tells; what neither tells is taken for a chat model. */
	readonly type: "text" | "embedding" | "tts" | "image";
	/** Unix seconds; null: the server does not tell. */
	readonly created: number | null;
	readonly contextTokens: number | null;
	readonly maxCompletionTokens: number | null;
	/** What the server says that it can and cannot do; left out: it does not say. */
	readonly capabilities?: Partial<TextCapabilities>;
	/** Of a speech model, where its server lists them. */
	readonly voices?: readonly string[];
}

/** What somebody says of a character. */
export interface CharacterReview {
	readonly id: string;
	readonly characterId: string;
	readonly createdAt: string;
	/** True where the caller wrote it: nobody does here. */
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
