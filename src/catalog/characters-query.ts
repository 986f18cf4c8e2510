import Type, { type Static } from "typebox";

const Several = (maxLength: number, description: string) =>
	Type.Optional(Type.Array(Type.String({ maxLength }), { maxItems: 20, description }));
const YesNo = (description: string) => Type.Optional(Type.Enum(["true", "false"], { description }));

/** The query of GET /characters (docs/models.md). */
export const CharactersQuerySchema = Type.Object({
	search: Type.Optional(
		Type.String({ maxLength: 200, description: "Searches names, descriptions and tags. #tag searches for a tag" }),
	),
	categories: Several(100, "Any of these categories; repeated or separated by commas"),
	tags: Several(100, "Any of these tags; repeated or separated by commas"),
	modelId: Several(200, "Any of these models; repeated or separated by commas"),
	isAdult: YesNo("Only adult characters, or none of them"),
	isPro: YesNo("Only characters on models of a paid plan, or none of them"),
	isWebEnabled: YesNo("Only characters that may search the web, or none of them"),
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
	offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
	sortBy: Type.Optional(
		Type.Enum(["featured", "highestRating", "highlyRated", "highlyRatedAndRecent", "imports", "mostRecent", "ratingCount"]),
	),
	sortOrder: Type.Optional(Type.Enum(["asc", "desc"], { default: "desc" })),
});

/** The query of GET /characters/{slug}/reviews. */
export const ReviewsQuerySchema = Type.Object({
	page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
	pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
});

export type CharactersQuery = Static<typeof CharactersQuerySchema>;
