/** The image during edits. Import it from the child only. */
import sharp, { type Sharp } from "sharp";
import type { PixelSize } from "../image-header.ts";
import { openImage } from "../pixels/open-image.ts";
import { ImageFault } from "../port.ts";

/** Upright sRGB: red, green, blue and opacity, a byte each, row by row. */
export interface Canvas extends PixelSize {
	readonly data: Uint8Array;
}

/**
 * Decodes an image.
 * @throws {ImageFault}
 */
export async function openCanvas(bytes: Uint8Array, minPixels: number): Promise<Canvas> {
	const { image } = await openImage(bytes, minPixels);
	return toCanvas(image);
}

export function sharpOf({ data, width, height }: Canvas): Sharp {
	return sharp(data, { raw: { width, height, channels: 4 } });
}

export async function toCanvas(image: Sharp): Promise<Canvas> {
	const { data, info } = await image.toColourspace("srgb").ensureAlpha().raw().toBuffer({ resolveWithObject: true });
	if (info.channels !== 4) throw new Error(`${info.channels} channels came`);
	return { data, width: info.width, height: info.height };
}

export function isOpaque({ data }: Canvas): boolean {
	for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false;
	return true;
}

/**
 * Lays one canvas over another; parts beyond the edge are cut off.
 * @param opacity 0 to 1, of the upper one
 */
export async function laidOver(base: Canvas, upper: Canvas, x: number, y: number, opacity: number): Promise<Canvas> {
	const left = Math.max(0, x);
	const top = Math.max(0, y);
	const width = Math.min(base.width, x + upper.width) - left;
	const height = Math.min(base.height, y + upper.height) - top;
	if (width <= 0 || height <= 0) throw new ImageFault("not-possible", `At ${x},${y} nothing of it would be on the image`);
	const part = sharpOf(upper).extract({ left: left - x, top: top - y, width, height });
	const { data } = await toCanvas(opacity === 1 ? part : part.linear([1, 1, 1, opacity], [0, 0, 0, 0]));
	return toCanvas(
		sharpOf(base).composite([
			{ input: Buffer.from(data.buffer, data.byteOffset, data.byteLength), raw: { width, height, channels: 4 }, left, top },
		]),
	);
}
