import Type, { type Static } from "typebox";
import { imageText } from "../fields.ts";

export const BackgroundRemoveBodySchema = Type.Object(
	{
		image: imageText("Base64 or a data: URL; in a form a file"),
		image_url: Type.Optional(Type.String({ minLength: 1, description: "http:// or https://; image wins over it" })),
	},
	{ additionalProperties: false },
);
export type BackgroundRemoveBody = Static<typeof BackgroundRemoveBodySchema>;
