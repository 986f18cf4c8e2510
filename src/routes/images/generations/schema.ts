import Type, { type Static } from "typebox";
import { promptField } from "../fields.ts";
import { OUTPUT_FORMATS } from "../limits.ts";
import { OPENAI_QUALITIES, OPENAI_SIZES } from "../openai-fields.ts";

const MAX_PROMPT = 1_500;

export const GenerationsBodySchema = Type.Object(
	{
		prompt: promptField(MAX_PROMPT),
		model: Type.Optional(Type.String({ default: "default", description: "An unknown name means the default model" })),
		n: Type.Optional(Type.Integer({ minimum: 1, maximum: 1, default: 1 })),
		size: Type.Optional(Type.Enum([...OPENAI_SIZES], { default: "auto", description: "auto is 1024x1024" })),
		response_format: Type.Optional(
			Type.Enum(["b64_json", "url"], { default: "b64_json", description: "url: returned as a data: URL" }),
		),
		output_format: Type.Optional(Type.Enum([...OUTPUT_FORMATS], { default: "png" })),
		moderation: Type.Optional(Type.Enum(["auto", "low"], { default: "auto", description: "auto: safe mode on; low: off" })),
		background: Type.Optional(Type.Enum(["transparent", "opaque", "auto"], { description: "No effect" })),
		output_compression: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: "No effect" })),
		quality: Type.Optional(Type.Enum([...OPENAI_QUALITIES], { description: "No effect" })),
		style: Type.Optional(Type.Enum(["vivid", "natural"], { description: "No effect" })),
		user: Type.Optional(Type.String({ description: "No effect" })),
	},
	{ additionalProperties: false },
);
export type GenerationsBody = Static<typeof GenerationsBodySchema>;
