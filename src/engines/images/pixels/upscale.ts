import type { PixelSize } from "../image-header.ts";
import { type Enlargement, ImageFault, MAX_UPSCALED_PIXELS, type OutputFormat, type Picture } from "../port.ts";
import { openImage } from "./open-image.ts";
import { writeImage } from "./write-image.ts";

const MAX_FACTOR = 4;

/**
 * Enlarges by Lanczos resampling, three lobes.
 * @throws {ImageFault}
 */
export async function upscale(bytes: Uint8Array, to: Enlargement, output: OutputFormat, minPixels: number): Promise<Picture> {
	const { image, width, height } = await openImage(bytes, minPixels);
	const target = enlargedSize({ width, height }, to);
	return writeImage(image.resize({ ...target, fit: "fill", kernel: "lanczos3" }), output);
}

/**
 * Returns the enlarged size. A factor is reduced to the pixel limit, never below 1.
 * @throws {ImageFault} `not-possible`
 */
function enlargedSize(size: PixelSize, to: Enlargement): PixelSize {
	if ("factor" in to) {
		if (!(to.factor >= 1 && to.factor <= MAX_FACTOR))
			throw new ImageFault("not-possible", `An image is enlarged 1 to ${MAX_FACTOR} times, not ${to.factor} times`);
		const fitting = Math.sqrt(MAX_UPSCALED_PIXELS / (size.width * size.height));
		const factor = Math.max(1, Math.min(to.factor, fitting));
		// Rounded down at the limit, because one more pixel would exceed it.
		const scaled = factor < to.factor ? Math.floor : Math.round;
		return {
			width: Math.max(size.width, scaled(size.width * factor)),
			height: Math.max(size.height, scaled(size.height * factor)),
		};
	}
	const { width, height } = to;
	if (width < size.width || height < size.height)
		throw new ImageFault("not-possible", `The image has ${size.width} x ${size.height} pixels: it is not made smaller here`);
	if (width > size.width * MAX_FACTOR || height > size.height * MAX_FACTOR || width * height > MAX_UPSCALED_PIXELS)
		throw new ImageFault(
			"not-possible",
			`An image is enlarged up to ${MAX_FACTOR} times and to ${MAX_UPSCALED_PIXELS} pixels at most`,
		);
	return { width, height };
}
