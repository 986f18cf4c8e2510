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
		negative_prompt: Type.Optional(Type.String({ maxLength: MAX_PROMPT, description: "Sent to upstreams that take one" })),
		width: Type.Optional(
			Type.Integer({ minimum: 1, maximum: MAX_SIDE, description: "Only for models that are sized in pixels. Absent: 1024" }),
		),
		height: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SIDE })),
		aspect_ratio: Type.Optional(Type.String({ minLength: 1, maxLength: 10, description: "Only for models that have ratios" })),
		resolution: Type.Optional(Type.String({ minLength: 1, maxLength: 10, description: "1K, 2K or 4K, if the model has it" })),
		quality: Type.Optional(
			Type.Enum([...QUALITIES], { description: "Ignored by models without it. Absent: the model's default" }),
		),
		steps: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: "Up to the model's maximum" })),
		cfg_scale: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 20 })),
		seed: Type.Optional(Type.Integer({ minimum: -MAX_SEED, maximum: MAX_SEED })),
		style_preset: Type.Optional(Type.String({ description: "A name from GET /image/styles, which is added to the prompt" })),
		lora_strength: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: "No effect" })),
		variants: Type.Optional(Type.Integer({ minimum: 1, maximum: 4, default: 1, description: "Only without return_binary" })),
		format: Type.Optional(Type.Enum([...OUTPUT_FORMATS], { default: "webp" })),
		return_binary: Type.Optional(Type.Boolean({ default: false, description: "true: the answer is the picture itself" })),
		safe_mode: Type.Optional(
			Type.Boolean({ default: true, description: "true: pictures that look like adult content are blurred" }),
		),
		hide_watermark: Type.Optional(Type.Boolean({ description: "No effect: no watermark is added here" })),
		embed_exif_metadata: Type.Optional(Type.Boolean({ description: "No effect" })),
		enable_web_search: Type.Optional(
			Type.Boolean({ description: "Must be false: no upstream here searches the web for pictures" }),
		),
		inpaint: Type.Optional(Type.Unknown({ deprecated: true, description: "Ignored" })),
		enhance_prompt: Type.Optional(Type.Boolean({ description: "Accepted, without effect: prompts are never rewritten here" })),
		disable_prompt_optimization_thinking: Type.Optional(Type.Boolean({ description: "Accepted, without effect" })),
	},
	{ additionalProperties: false },
);
export type GenerateBody = Static<typeof GenerateBodySchema>;

export const GenerateAnswerSchema = named(
	"GeneratedPictures",
	Type.Object({
		id: Type.String(),
		images: Type.Array(Type.String({ description: "Base64" })),
		request: Type.Optional(Type.Object({}, { description: "The body, unchanged" })),
		timing: Type.Object({
			inferenceDuration: Type.Number({ description: "In milliseconds, like the others" }),
			inferencePreprocessingTime: Type.Number(),
			inferenceQueueTime: Type.Number(),
			total: Type.Number(),
		}),
	}),
);
