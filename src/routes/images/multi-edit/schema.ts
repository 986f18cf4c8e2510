import Type, { type Static } from "typebox";
import { editChoices, promptField } from "../fields.ts";
import { MAX_PICTURES } from "../limits.ts";

export const MultiEditBodySchema = Type.Object(
	{
		prompt: promptField(),
		images: Type.Optional(
			Type.Array(Type.String({ minLength: 1 }), {
				description: `1 to ${MAX_PICTURES}: the base, then layers or masks; each base64, a data: URL, or an http:// or https:// address. In a form: files`,
			}),
		),
		modelId: Type.Optional(Type.String({ default: "firered-image-edit", description: "An id of GET /models?type=inpaint" })),
		...editChoices,
	},
	{ additionalProperties: false },
);
export type MultiEditBody = Static<typeof MultiEditBodySchema>;
