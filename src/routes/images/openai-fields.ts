/** Shared by the routes of OpenAI's form: sizes, qualities and answers. */

import Type from "typebox";
import type { ImageSize } from "../../catalog/index.ts";
import type { ImageQuality } from "../../catalog/types.ts";
import type { Picture } from "../../engines/images/port.ts";
import { named } from "../../schema/named-schema.ts";

export const OPENAI_SIZES = [
	"auto",
	"256x256",
	"512x512",
	"1024x1024",
	"1536x1024",
	"1024x1536",
	"1792x1024",
	"1024x1792",
] as const;
export const OPENAI_QUALITIES = ["auto", "high", "medium", "low", "hd", "standard"] as const;

/** The answer of the routes of OpenAI's form. */
export const OpenAiPicturesSchema = named(
	"Pictures",
	Type.Object({
		created: Type.Integer({ description: "Unix seconds" }),
		data: Type.Array(
			Type.Object({
				b64_json: Type.Optional(Type.String({ description: "Base64" })),
				url: Type.Optional(Type.String({ description: "A data: URL" })),
			}),
		),
	}),
);

/** Returns the pixels of a size; null for `auto`. */
export function pixelsOf(size: (typeof OPENAI_SIZES)[number] | undefined): ImageSize | null {
	const [width, height] = (size ?? "auto").split("x").map(Number);
	return width === undefined || height === undefined ? null : { width, height };
}

/** Returns our quality; undefined: the model's default. */
export function qualityOf(quality: (typeof OPENAI_QUALITIES)[number] | undefined): ImageQuality | undefined {
	if (quality === "hd") return "high";
	return quality === "low" || quality === "medium" || quality === "high" ? quality : undefined;
}

/** Returns one picture in OpenAI's answer. */
export function openAiPicture(picture: Picture, form: "b64_json" | "url" | undefined): Record<string, string> {
	const { bytes } = picture;
	const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
	return form === "url" ? { url: `data:${picture.mediaType};base64,${text}` } : { b64_json: text };
}
