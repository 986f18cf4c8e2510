import Type, { type Static } from "typebox";
import { imageText } from "../fields.ts";

/** The body; unknown fields are ignored. */
export const UpscaleBodySchema = Type.Object({
	image: imageText("Base64 or a data: URL. In a form, a file"),
	scale: Type.Optional(
		Type.Number({ enum: [2, 4], default: 2, description: "Reduced where the result would have over 16777216 pixels" }),
	),
	creativity: Type.Optional(Type.Number({ description: "No effect" })),
	enhance: Type.Optional(Type.Unknown({ description: "No effect" })),
});
export type UpscaleBody = Static<typeof UpscaleBodySchema>;
