import Type, { type Static } from "typebox";

const Several = (maxLength: number, description: string) =>
	Type.Optional(Type.Array(Type.String({ maxLength }), { maxItems: 20, description }));
const YesNo = (description: string) => Type.Optional(Type.Enum(["true", "false"], { description }));

/** Query of GET /characters (chat-models.md 12.1), after `readCharactersQuery`. */
export const CharactersQuerySchema = Type.Object({
	search: Type.Optional(Type.String({ maxLength: 200, description: "In name, description and tags; #tag looks for a tag" })),
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

export type CharactersQuery = Static<typeof CharactersQuerySchema>;

const LISTS: ReadonlySet<string> = new Set(["categories", "tags", "modelId"]);
const NUMBERS: ReadonlySet<string> = new Set(["limit", "offset"]);
const INTEGER = /^-?\d{1,15}$/;

/**
 * The query string in the types of `CharactersQuerySchema`; what does not read as such a type stays text, for
 * the schema to refuse. An empty value and `offset=null` are the same as absent. Of a repeated single value the last counts.
 */
export function readCharactersQuery(params: URLSearchParams): Record<string, unknown> {
	const query: Record<string, unknown> = {};
	for (const name of Object.keys(CharactersQuerySchema.properties)) {
		const values = params.getAll(name).filter((value) => value !== "" && !(name === "offset" && value === "null"));
		const last = values.at(-1);
		if (last === undefined) continue;
		if (LISTS.has(name)) query[name] = values.flatMap((value) => value.split(",")).filter((value) => value !== "");
		else query[name] = NUMBERS.has(name) && INTEGER.test(last) ? Number(last) : last;
	}
	return query;
}
