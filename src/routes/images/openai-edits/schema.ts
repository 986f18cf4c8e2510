import Type, { type Static } from "typebox";
import { promptField } from "../fields.ts";
import { OUTPUT_FORMATS } from "../limits.ts";
import { OPENAI_QUALITIES, OPENAI_SIZES } from "../openai-fields.ts";

export const OpenAiEditBodySchema = Type.Object(
	{
		prompt: promptField(),
		model: Type.Optional(
			Type.String({ minLength: 1, default: "firered-image-edit", description: "GET /models?type=inpaint lists them" }),
		),
		n: Type.Optional(Type.Integer({ minimum: 1, maximum: 1, default: 1 })),
		size: Type.Optional(Type.Enum([...OPENAI_SIZES], { default: "auto", description: "auto: the ratio of the first picture" })),
		quality: Type.Optional(Type.Enum([...OPENAI_QUALITIES], { default: "auto", description: "Ignored by models without it" })),
		output_format: Type.Optional(Type.Enum([...OUTPUT_FORMATS, "jpg"], { default: "png" })),
		response_format: Type.Optional(
			Type.Enum(["b64_json", "url"], { default: "b64_json", description: "url: returned as a data: URL" }),
		),
		moderation: Type.Optional(Type.Enum(["auto", "low"], { default: "auto", description: "auto: safe mode on; low: off" })),
		background: Type.Optional(Type.Enum(["transparent", "opaque", "auto"], { description: "No effect" })),
		input_fidelity: Type.Optional(Type.Enum(["high", "low"], { description: "No effect" })),
		output_compression: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: "No effect" })),
		partial_images: Type.Optional(Type.Integer({ minimum: 0, maximum: 0, description: "Must be 0: nothing is streamed" })),
		stream: Type.Optional(Type.Boolean({ description: "Must be false" })),
		user: Type.Optional(Type.String({ description: "No effect" })),
	},
	{ additionalProperties: false },
);
export type OpenAiEditBody = Static<typeof OpenAiEditBodySchema>;
