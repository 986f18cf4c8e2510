import Type, { type TSchema } from "typebox";
import { closed } from "../schema/closed.ts";
import { LEAST_USD, LEAST_USD_PER_MILLION, named, PLAIN_TEXT, price, section, text } from "./schema-types.ts";

const IMAGE_SIZE = "^[1-9]\\d{1,4}x[1-9]\\d{1,4}$";
const IMAGE_RATIO = "^(auto|[1-9]\\d{0,2}:[1-9]\\d{0,2})$";

const usdPrice = (description = "USD per million tokens") =>
	price({ maximum: 1_000_000, least: LEAST_USD_PER_MILLION, description });

/**
 * How an upstream receives a voice sample. With each request: `ref_audio`, a data URL in that member of the JSON body
 * (vLLM-Omni), or in the provider's own place; `voice_file`, a form with that file at audio/speech/upload (Chatterbox servers).
 * Once: `registered`, as a voice that the provider keeps.
 */
const CLONING_FORMS = ["ref_audio", "voice_file", "registered"] as const;

const TargetSchema = closed({
	upstream: Type.String({ minLength: 1 }),
	model: Type.Optional(
		Type.String({
			pattern: PLAIN_TEXT,
			minLength: 1,
			description: "The upstream's own name for the model. If unset: the model's id",
		}),
	),
	weight: Type.Number({ exclusiveMinimum: 0, default: 1, description: "Relative share among targets of the same order" }),
	order: Type.Integer({ default: 0, description: "Lower values come first" }),
	voices: Type.Optional(
		named(text(), { description: "tts: the model's voice -> the upstream's name for it; other voices are sent unchanged" }),
	),
	formats: Type.Optional(
		Type.Array(Type.Enum(["mp3", "opus", "aac", "flac", "wav", "pcm"]), {
			minItems: 1,
			description: "tts: formats that the upstream produces. Others are converted from the first of these. If unset: all six",
		}),
	),
	sizes: Type.Optional(
		Type.Array(Type.String({ pattern: IMAGE_SIZE }), {
			description:
				"inpaint, image: sizes that the upstream produces, like 1024x1024. If unset: any size; if empty, no size is sent",
		}),
	),
	pictures: Type.Optional(
		Type.Integer({
			minimum: 0,
			maximum: 3,
			description: "inpaint: number of input pictures that the upstream takes. If unset, its protocol decides",
		}),
	),
	parameters: Type.Optional(
		named(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
			description: "inpaint, image, upscale: parameters for a provider or a workflow. Names in braces, like {seed}, are replaced",
		}),
	),
	workflow: Type.Optional(
		Type.String({
			pattern: PLAIN_TEXT,
			minLength: 1,
			description: "comfyui: file of the workflow, exported for the API; relative to the folder where the server starts",
		}),
	),
	output: Type.Optional(
		Type.String({ pattern: PLAIN_TEXT, description: "comfyui: the node whose pictures count. If unset: any node" }),
	),
	protocol: Type.Optional(
		Type.Enum(["openai", "comfyui"], { description: "inpaint, image, upscale: the upstream's protocol. If unset: openai" }),
	),
	cloning: Type.Optional(
		Type.Enum([...CLONING_FORMS], {
			description: "tts: how the upstream gets the sample of a cloned voice. If unset, it clones no voices",
		}),
	),
});

const EffortSchema = Type.Enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

const CapabilitiesSchema = closed({
	optimizedForCode: Type.Optional(Type.Boolean()),
	quantization: Type.Optional(Type.Enum(["fp4", "fp8", "fp16", "bf16", "int8", "int4", "not-available"])),
	supportsAudioInput: Type.Optional(Type.Boolean()),
	supportsFunctionCalling: Type.Optional(Type.Boolean()),
	supportsLogProbs: Type.Optional(Type.Boolean()),
	supportsMultipleImages: Type.Optional(Type.Boolean()),
	supportsReasoning: Type.Optional(Type.Boolean()),
	supportsReasoningEffort: Type.Optional(Type.Boolean()),
	supportsResponseSchema: Type.Optional(Type.Boolean()),
	supportsTeeAttestation: Type.Optional(Type.Boolean()),
	supportsE2EE: Type.Optional(Type.Boolean()),
	supportsVision: Type.Optional(Type.Boolean()),
	supportsVideoInput: Type.Optional(Type.Boolean()),
	supportsWebSearch: Type.Optional(Type.Boolean()),
	supportsXSearch: Type.Optional(Type.Boolean()),
	reasoningEffortOptions: Type.Optional(Type.Array(EffortSchema)),
	defaultReasoningEffort: Type.Optional(EffortSchema),
	maxImages: Type.Optional(Type.Integer({ minimum: 1 })),
	maxVideos: Type.Optional(Type.Integer({ minimum: 1 })),
});

const TextPriceSchema = closed({
	input: usdPrice(),
	output: usdPrice(),
	cacheInput: Type.Optional(usdPrice()),
	cacheWrite: Type.Optional(usdPrice()),
	extended: Type.Optional(
		closed({
			contextTokenThreshold: Type.Integer({ minimum: 1 }),
			input: usdPrice(),
			output: usdPrice(),
			cacheInput: Type.Optional(usdPrice()),
			cacheWrite: Type.Optional(usdPrice()),
		}),
	),
});

/** The settings of a speech model; for one in the catalog, the differences. */
const SpeechSchema = closed({
	voices: Type.Optional(Type.Array(text(), { minItems: 1, uniqueItems: true })),
	defaultVoice: Type.Optional(Type.String({ pattern: PLAIN_TEXT, description: "If unset: the first of voices" })),
	perMillionCharacters: Type.Optional(usdPrice("Price in USD")),
	prompt: Type.Optional(Type.Boolean({ description: "true: prompt is sent to the upstream, as instructions" })),
	temperature: Type.Optional(Type.Boolean({ description: "true: temperature is sent to the upstream" })),
	topP: Type.Optional(Type.Boolean({ description: "true: top_p is sent to the upstream" })),
});

const TranscriptionSchema = closed({
	perAudioSecond: Type.Optional(price({ maximum: 1_000, least: LEAST_USD, description: "Price in USD" })),
	timestamps: Type.Optional(
		Type.Enum(["word", "segment", "none"], { description: "Kind of times that timestamps: true returns" }),
	),
});

const usdEach = (description?: string) => price({ maximum: 1_000, least: LEAST_USD, ...(description ? { description } : {}) });
const resolutionName = () => Type.Enum(["1K", "2K", "4K"]);
const qualityName = () => Type.Enum(["low", "medium", "high"]);
const EachTier = <T extends TSchema>(each: T) =>
	closed({ "1K": Type.Optional(each), "2K": Type.Optional(each), "4K": Type.Optional(each) });

/** The limits and prices of an image model; for one in the catalog, the differences. */
const ImageSchema = closed({
	usd: Type.Optional(usdEach("Price of one picture")),
	byResolution: Type.Optional(EachTier(usdEach())),
	byQuality: Type.Optional(
		EachTier(closed({ low: Type.Optional(usdEach()), medium: Type.Optional(usdEach()), high: Type.Optional(usdEach()) })),
	),
	extraImage: Type.Optional(
		closed({ included: Type.Integer({ minimum: 0 }), each: usdEach() }, "Price of each input picture beyond the included ones"),
	),
	upscale: Type.Optional(closed({ "2x": usdEach(), "4x": usdEach() }, "upscale: prices by factor")),
	aspectRatios: Type.Optional(
		Type.Array(Type.String({ pattern: IMAGE_RATIO }), { minItems: 1, description: "Ratios like 16:9; auto means the input's" }),
	),
	resolutions: Type.Optional(Type.Array(resolutionName(), { minItems: 1, uniqueItems: true })),
	defaultResolution: Type.Optional(resolutionName()),
	qualities: Type.Optional(Type.Array(qualityName(), { minItems: 1, uniqueItems: true })),
	defaultQuality: Type.Optional(qualityName()),
	promptCharacterLimit: Type.Optional(Type.Integer({ minimum: 1, maximum: 32_768 })),
});

/** The settings of an embedding model; for one in the catalog, the differences. */
const EmbeddingSchema = closed({
	dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536, description: "Dimensions of a vector" })),
	maxInputTokens: Type.Optional(
		Type.Integer({ minimum: 1, description: "Maximum tokens of each text. If unset, the upstream decides" }),
	),
	customDimensions: Type.Optional(Type.Boolean({ description: "true: a request may ask for shorter vectors" })),
	perMillionTokens: Type.Optional(usdPrice()),
});

const InstantSchema = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$" });

/** A model as an operator writes it: overrides the catalog's entry of the same id, or adds one. */
export const ModelEntrySchema = section({
	type: Type.Optional(Type.Enum(["asr", "embedding", "image", "music", "text", "tts", "upscale", "inpaint", "video"])),
	name: Type.Optional(text()),
	description: Type.Optional(Type.String()),
	modelSource: Type.Optional(Type.String()),
	created: Type.Optional(Type.Integer({ minimum: 0 })),
	privacy: Type.Optional(Type.Enum(["private", "anonymized"])),
	offline: Type.Optional(Type.Boolean()),
	hidden: Type.Optional(Type.Boolean({ description: "true removes the model from this service" })),
	upstreams: Type.Optional(Type.Array(TargetSchema)),
	price: Type.Optional(TextPriceSchema),
	cost: Type.Optional(
		closed(
			{
				input: Type.Optional(usdPrice("text and embedding: USD per million tokens")),
				output: Type.Optional(usdPrice("text: USD per million tokens")),
				each: Type.Optional(
					usdPrice("Other types: USD for a picture, a second of transcribed audio, or a million spoken characters"),
				),
			},
			"What the upstream charges for it; shown in exports and the console",
		),
	),
	contextTokens: Type.Optional(Type.Integer({ minimum: 1 })),
	maxCompletionTokens: Type.Optional(Type.Integer({ minimum: 1 })),
	tier: Type.Optional(Type.String({ minLength: 1, description: "The name of a tier under limits.tiers" })),
	traits: Type.Optional(Type.Array(text())),
	capabilities: Type.Optional(CapabilitiesSchema),
	thinkBlocks: Type.Optional(
		Type.Enum(["inline", "opened"], {
			description:
				"Set this if the model writes its thoughts into its text: they then come as reasoning_content. inline: between both think tags; opened: without the first tag",
		}),
	),
	responseFormat: Type.Optional(
		Type.Enum(["native", "repair"], {
			description:
				"Who enforces response_format. native: the upstream. repair: this service, which instructs the model, checks the answer and asks once more",
		}),
	),
	files: Type.Optional(
		Type.Enum(["text", "native"], {
			description:
				"How the model gets a PDF in a chat. text: the text of the file; native: the file itself, for upstreams that read files",
		}),
	),
	speech: Type.Optional(SpeechSchema),
	transcription: Type.Optional(TranscriptionSchema),
	embedding: Type.Optional(EmbeddingSchema),
	image: Type.Optional(ImageSchema),
	temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, description: "Shown to callers as the default; never sent" })),
	topP: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Shown to callers as the default; never sent" })),
	deprecation: Type.Optional(
		closed({
			autoRemap: Type.Boolean(),
			date: InstantSchema,
			removesAt: InstantSchema,
			startsAt: Type.Optional(InstantSchema),
			replacementModelId: Type.Optional(Type.String()),
		}),
	),
});
