import Type, { type Static } from "typebox";
import { named } from "../../schema/named-schema.ts";

/** Maximum number of texts in a request. */
const MAX_TEXTS = 2_048;

export const EmbeddingsBodySchema = Type.Object(
	{
		input: Type.Union(
			[Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: MAX_TEXTS })],
			{ description: "A text, or up to 2048 of them; token ids are not taken" },
		),
		model: Type.String({ minLength: 1, description: "GET /models?type=embedding lists them" }),
		dimensions: Type.Optional(
			Type.Integer({ minimum: 1, description: "The length of shorter vectors. Only for models with supportsCustomDimensions" }),
		),
		encoding_format: Type.Optional(
			Type.Enum(["float", "base64"], { default: "float", description: "base64: little-endian float32 numbers in base64" }),
		),
		user: Type.Optional(Type.String({ description: "Accepted, without effect" })),
	},
	{ additionalProperties: false },
);
export type EmbeddingsBody = Static<typeof EmbeddingsBodySchema>;

export const EmbeddingsAnswerSchema = named(
	"Embeddings",
	Type.Object({
		object: Type.Literal("list"),
		model: Type.String(),
		data: Type.Array(
			Type.Object({
				object: Type.Literal("embedding"),
				index: Type.Integer({ minimum: 0 }),
				embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
			}),
		),
		usage: Type.Object({ prompt_tokens: Type.Integer({ minimum: 0 }), total_tokens: Type.Integer({ minimum: 0 }) }),
	}),
);
