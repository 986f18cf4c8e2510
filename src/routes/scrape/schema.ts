import Type, { type Static } from "typebox";
import { named } from "../../schema/named-schema.ts";

/** The body; other fields are ignored. */
export const ScrapeSchema = Type.Object({
	url: Type.String({ minLength: 1, description: "An absolute http or https URL of the public internet" }),
});
export type ScrapeBody = Static<typeof ScrapeSchema>;

export const ScrapeAnswerSchema = named(
	"ScrapedPage",
	Type.Object({
		url: Type.String({ description: "As requested" }),
		content: Type.String({ description: "Markdown" }),
		format: Type.Literal("markdown"),
	}),
);
