import type { Sharp } from "sharp";
import { IMAGE_MEDIA_TYPES, type OutputFormat, type Picture } from "../port.ts";

const DEFAULT_QUALITY = 92;
/** Saves most of what higher levels do, in a third of their time. */
const PNG_LEVEL = 4;
/** Higher levels take twice the time and save little. */
const WEBP_EFFORT = 2;
export const WHITE = { r: 255, g: 255, b: 255 };

/** Writes an image without metadata; transparency becomes white in jpeg. */
export async function writeImage(image: Sharp, { format, quality = DEFAULT_QUALITY }: OutputFormat): Promise<Picture> {
	const { data, info } = await encoder(image, format, quality).toBuffer({ resolveWithObject: true });
	const { width, height } = info;
	return { bytes: data, mediaType: IMAGE_MEDIA_TYPES[format], width, height, hasAlpha: info.channels === 4 };
}

function encoder(image: Sharp, format: OutputFormat["format"], quality: number): Sharp {
	if (format === "png") return image.png({ compressionLevel: PNG_LEVEL });
	if (format === "webp") return image.webp({ quality, effort: WEBP_EFFORT });
	const chromaSubsampling = quality >= 90 ? "4:4:4" : "4:2:0";
	// Optimised codes would keep all coefficients of an image in memory: 200 MB for the largest.
	return image.flatten({ background: WHITE }).jpeg({ quality, chromaSubsampling, optimiseCoding: false });
}
