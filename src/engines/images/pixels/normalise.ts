import type { Picture } from "../port.ts";
import { openImage } from "./open-image.ts";
import { writeImage } from "./write-image.ts";

/** A lossless image is written as PNG up to this size; beyond it a JPEG saves seconds and tens of megabytes. */
const MAX_PNG_PIXELS = 8_388_608;
const JPEG_QUALITY = 95;

/**
 * Normalises an image.
 * @throws {ImageFault}
 */
export async function normalise(bytes: Uint8Array, minPixels: number): Promise<Picture> {
	const { image, width, height, hasAlpha, lossless } = await openImage(bytes, minPixels);
	const png = hasAlpha || (lossless && width * height <= MAX_PNG_PIXELS);
	return writeImage(image, png ? { format: "png" } : { format: "jpeg", quality: JPEG_QUALITY });
}
