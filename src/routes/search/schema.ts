import Type, { type Static } from "typebox";
import { named } from "../../schema/named-schema.ts";

const MAX_RESULTS = 20;
export const DEFAULT_RESULTS = 10;
export const DEFAULT_PROVIDER = "brave";

/** The body; other fields are ignored. */
export const SearchSchema = Type.Object({
	query: Type.String({ minLength: 1, maxLength: 400 }),
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESULTS, default: DEFAULT_RESULTS })),
	search_provider: Type.Optional(
		Type.Enum(["brave", "google"], {
			default: DEFAULT_PROVIDER,
			description: "Tried first if it is configured here. Otherwise the providers of this service are tried in their order",
		}),
	),
});
export type SearchBody = Static<typeof SearchSchema>;

export const SearchAnswerSchema = named(
	"SearchResults",
	Type.Object({
		query: Type.String(),
		results: Type.Array(
			Type.Object({
				title: Type.String(),
				url: Type.String(),
				content: Type.String({ description: "The provider's extract of the page. It may contain HTML tags" }),
				date: Type.String({ description: 'UTC, as in 2025-01-02T03:04:05; often ""' }),
			}),
		),
	}),
);
