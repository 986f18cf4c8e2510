import Type, { type Static } from "typebox";
import { named } from "../../../schema/named-schema.ts";
import { promptField } from "../fields.ts";
import { OUTPUT_FORMATS, QUALITIES } from "../limits.ts";

const MAX_PROMPT = 7_500;
const MAX_SIDE = 1_280;
const MAX_SEED = 999_999_999;

export const GenerateBodySchema = Type.Object(
	{
		model: Type.String({ minLength: 1, description: "A model or trait of GET /models?type=image" }),
		prompt: promptField(MAX_PROMPT),
		negative_prompt: Type.Optional(Type.String({ maxLength: MAX_PROMPT, description: "Goes to upstreams that take one" })),
		width: Type.Optional(
			Type.Integer({ minimum: 1, maximum: MAX_SIDE, description: "Only models that are sized in pixels; left out: 1024" }),
		),
		height: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SIDE })),
		aspect_ratio: Type.Optional(Type.String({ minLength: 1, maxLength: 10, description: "Only models that have ratios" })),
		resolution: Type.Optional(Type.String({ minLength: 1, maxLength: 10, description: "1K, 2K, 4K, as the model has them" })),
		quality: Type.Optional(
			Type.Enum([...QUALITIES], { description: "Ignored by models without; left out: the model's default" }),
		),
		steps: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: "Up to the model's maximum" })),
		cfg_scale: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 20 })),
		seed: Type.Optional(Type.Integer({ minimum: -MAX_SEED, maximum: MAX_SEED })),
		style_preset: Type.Optional(Type.String({ description: "A name of GET /image/styles: it is added to the prompt" })),
		lora_strength: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: "No effect" })),
		variants: Type.Optional(Type.Integer({ minimum: 1, maximum: 4, default: 1, description: "Only without return_binary" })),
		format: Type.Optional(Type.Enum([...OUTPUT_FORMATS], { default: "webp" })),
		return_binary: Type.Optional(Type.Boolean({ default: false, description: "true: the answer is the picture itself" })),
		safe_mode: Type.Optional(
			Type.Boolean({ default: true, description: "true: a picture that looks like adult content is blurred" }),
		),
		hide_watermark: Type.Optional(Type.Boolean({ description: "No effect: nothing here adds one" })),
		embed_exif_metadata: Type.Optional(Type.Boolean({ description: "No effect" })),
		enable_web_search: Type.Optional(Type.Boolean({ description: "Only false: no upstream here searches for pictures" })),
		inpaint: Type.Optional(Type.Unknown({ deprecated: true, description: "Ignored" })),
		enhance_prompt: Type.Optional(Type.Boolean({ description: "Taken; prompts are never rewritten here" })),
		disable_prompt_optimization_thinking: Type.Optional(Type.Boolean({ description: "Taken; nothing here has that feature" })),
	},
	{ additionalProperties: false },
);
export type GenerateBody = Static<typeof GenerateBodySchema>;

export const GenerateAnswerSchema = named(
	"GeneratedPictures",
	Type.Object({
		id: Type.String(),
		images: Type.Array(Type.String({ description: "Base64" })),
		request: Type.Optional(Type.Object({}, { description: "The body as it was sent" })),
		timing: Type.Object({
			inferenceDuration: Type.Number({ description: "Milliseconds, like the others" }),
			inferencePreprocessingTime: Type.Number(),
			inferenceQueueTime: Type.Number(),
			total: Type.Number(),
		}),
	}),
);
