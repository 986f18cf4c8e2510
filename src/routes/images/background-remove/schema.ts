import Type, { type Static } from "typebox";
import { imageText } from "../fields.ts";

export const BackgroundRemoveBodySchema = Type.Object(
	{
		image: imageText("Base64 or a data: URL. In a form, a file"),
		image_url: Type.Optional(
			Type.String({ minLength: 1, description: "http:// or https://. If image is sent too, image counts" }),
		),
	},
	{ additionalProperties: false },
);
export type BackgroundRemoveBody = Static<typeof BackgroundRemoveBodySchema>;
