import Type, { type Static } from "typebox";
import { named } from "../../schema/named-schema.ts";

/** The form's fields; others are ignored. */
export const TextParserSchema = Type.Object({
	response_format: Type.Optional(
		Type.Enum(["json", "text"], { default: "json", description: "json: `{text, tokens}`; text: the text alone" }),
	),
});
export type TextParserBody = Static<typeof TextParserSchema>;

export const TextParserAnswerSchema = named(
	"ParsedText",
	Type.Object({
		text: Type.String({ description: "Markdown if the file has headings, lists or tables" }),
		tokens: Type.Integer({
			minimum: 0,
			description: "Tokens of o200k_base. If counting takes longer than a second, a third of the bytes",
		}),
	}),
);
