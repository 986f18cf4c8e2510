/** The query and answer schemas of the catalog's routes (docs/models.md), for validation and for the API document. */

import Type from "typebox";
import { named } from "../schema/named-schema.ts";
import { MODEL_TYPES } from "./types.ts";

const beta = Type.Optional(Type.String({ description: "Sent by Anthropic's clients. It has no effect" }));
const idOfPage = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 512, description }));

/** The query of GET /models. Pagination follows Anthropic's clients. */
export const ModelsQuerySchema = Type.Object({
	type: Type.Optional(
		Type.Enum([...MODEL_TYPES, "all", "code"], {
			default: "text",
			description: "all: every type; code: text models made for code",
		}),
	),
	limit: Type.Optional(
		Type.Integer({ minimum: 1, maximum: 1000, description: "Models on a page. Absent: all models on one page" }),
	),
	after_id: idOfPage("The page begins after this model"),
	before_id: idOfPage("The page ends before this model"),
	beta,
});

/** The query of GET /models/{id}. */
export const ModelQuerySchema = Type.Object({ beta });

/** The query of GET /models/traits and GET /models/compatibility_mapping. */
export const ModelTypeQuerySchema = Type.Object({ type: Type.Optional(Type.Enum([...MODEL_TYPES], { default: "text" })) });

const DeprecationSchema = Type.Object({
	autoRemap: Type.Boolean(),
	date: Type.String(),
	removesAt: Type.String(),
	startsAt: Type.Optional(Type.String()),
	replacementModelId: Type.Optional(Type.String()),
});

const VoiceCloningSchema = Type.Object({
	mode: Type.String(),
	accepted_formats: Type.Array(Type.String()),
	min_sample_seconds: Type.Number(),
	retention_days: Type.Number(),
});

const flag = Type.Optional(Type.Boolean());
const amount = Type.Optional(Type.Number());
/** The members of music models. */
const musicMembers = {
	supports_lyrics: flag,
	lyrics_required: flag,
	supports_force_instrumental: flag,
	supports_loop: flag,
	supports_language_code: flag,
	supports_speed: flag,
	default_speed: amount,
	min_speed: amount,
	max_speed: amount,
	min_duration: amount,
	max_duration: amount,
	default_duration: amount,
	duration_options: Type.Optional(Type.Array(Type.Number())),
	prompt_character_limit: amount,
	min_prompt_length: amount,
	lyrics_character_limit: amount,
};

/** The schema of one model. The members of `model_spec` depend on the model's type. */
export const ModelSchema = named(
	"Model",
	Type.Object({
		id: Type.String(),
		object: Type.Literal("model"),
		type: Type.Enum([...MODEL_TYPES]),
		created: Type.Integer({ description: "Unix seconds" }),
		owned_by: Type.String(),
		context_length: Type.Optional(Type.Integer({ description: "Text models whose context is known" })),
		model_spec: Type.Object({
			name: Type.String(),
			description: Type.String(),
			modelSource: Type.String(),
			offline: Type.Boolean(),
			privacy: Type.Enum(["private", "anonymized"]),
			betaModel: Type.Boolean(),
			traits: Type.Array(Type.String()),
			deprecation: Type.Optional(DeprecationSchema),
			availableContextTokens: Type.Optional(Type.Integer()),
			maxCompletionTokens: Type.Optional(Type.Integer()),
			voices: Type.Optional(Type.Array(Type.String())),
			default_voice: Type.Optional(Type.String()),
			supported_formats: Type.Optional(Type.Array(Type.String())),
			default_format: Type.Optional(Type.String()),
			supports_custom_voice_id: Type.Optional(Type.Boolean()),
			voice_cloning: Type.Optional(VoiceCloningSchema),
			embeddingDimensions: Type.Optional(Type.Integer()),
			maxInputTokens: Type.Optional(Type.Integer()),
			supportsCustomDimensions: Type.Optional(Type.Boolean()),
			supportsStyleReferences: Type.Optional(Type.Boolean()),
			supportsWebSearch: Type.Optional(Type.Boolean()),
			...musicMembers,
			capabilities: Type.Optional(Type.Object({}, { additionalProperties: true })),
			constraints: Type.Optional(Type.Object({}, { additionalProperties: true })),
			pricing: Type.Optional(Type.Object({}, { additionalProperties: true })),
		}),
	}),
);

export const ModelListSchema = named(
	"ModelList",
	Type.Object({
		object: Type.Literal("list"),
		type: Type.String({ description: "As requested" }),
		data: Type.Array(ModelSchema),
		has_more: Type.Optional(Type.Boolean({ description: "Present on a page" })),
		first_id: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: "Present on a page" })),
		last_id: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: "Present on a page" })),
	}),
);

/** The answer of GET /models/traits and GET /models/compatibility_mapping. */
export const NameMapSchema = named(
	"NameMap",
	Type.Object({
		object: Type.Literal("list"),
		type: Type.Enum([...MODEL_TYPES]),
		data: Type.Record(Type.String(), Type.String()),
	}),
);

export const CharacterSchema = named(
	"Character",
	Type.Object({
		id: Type.String(),
		name: Type.String(),
		slug: Type.String(),
		description: Type.String(),
		author: Type.String(),
		shareUrl: Type.String(),
		photoUrl: Type.String(),
		modelId: Type.String(),
		adult: Type.Boolean(),
		featured: Type.Boolean(),
		webEnabled: Type.Boolean(),
		createdAt: Type.String(),
		updatedAt: Type.String(),
		tags: Type.Array(Type.String()),
		stats: Type.Object({
			averageRating: Type.Number(),
			imports: Type.Number(),
			ratingCount: Type.Number(),
			ratingSum: Type.Number(),
			userRating: Type.Number(),
		}),
	}),
);

const CharacterReviewSchema = named(
	"CharacterReview",
	Type.Object({
		id: Type.String(),
		characterId: Type.String(),
		createdAt: Type.String(),
		isOwner: Type.Boolean(),
		locale: Type.Union([Type.String(), Type.Null()]),
		message: Type.Union([Type.String(), Type.Null()]),
		rating: Type.Integer({ minimum: 1, maximum: 5 }),
		userAvatarUrl: Type.Union([Type.String(), Type.Null()]),
		username: Type.String(),
	}),
);

export const CharacterReviewListSchema = named(
	"CharacterReviewList",
	Type.Object({
		object: Type.Literal("list"),
		data: Type.Array(CharacterReviewSchema),
		pagination: Type.Object({
			page: Type.Integer(),
			pageSize: Type.Integer(),
			total: Type.Integer(),
			totalPages: Type.Integer(),
		}),
		summary: Type.Object({ averageRating: Type.Number(), totalReviews: Type.Integer() }),
	}),
);

export const CharacterAnswerSchema = named(
	"CharacterAnswer",
	Type.Object({ object: Type.Literal("character"), data: CharacterSchema }),
);
export const CharacterListSchema = named(
	"CharacterList",
	Type.Object({ object: Type.Literal("list"), data: Type.Array(CharacterSchema) }),
);
