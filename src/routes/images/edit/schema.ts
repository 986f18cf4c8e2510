import Type, { type Static } from "typebox";
import { editChoices, imageText, promptField } from "../fields.ts";

export const EditBodySchema = Type.Object(
	{
		image: imageText("Base64, a data: URL, or an http:// or https:// address. In a form, a file as well"),
		prompt: promptField(),
		model: Type.Optional(
			Type.String({ minLength: 1, default: "firered-image-edit", description: "GET /models?type=inpaint lists them" }),
		),
		modelId: Type.Optional(Type.String({ deprecated: true, description: "Use model. If both are sent, they must be the same" })),
		...editChoices,
	},
	{ additionalProperties: false },
);
export type EditBody = Static<typeof EditBodySchema>;
