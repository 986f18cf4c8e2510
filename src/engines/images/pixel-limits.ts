import { declaredSize, type PixelSize } from "./image-header.ts";
import { imageTypeOf } from "./image-type.ts";
import { ImageFault, MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from "./port.ts";

/** The longest side in WebP. */
const MAX_SIDE = 16_383;

/**
 * Checks the pixels of an input.
 * @throws {ImageFault} `too-small`, `too-many-pixels`
 */
export function requirePixels({ width, height }: PixelSize, minPixels: number): void {
	if (width * height > MAX_IMAGE_PIXELS)
		throw new ImageFault(
			"too-many-pixels",
			`The image has ${width} x ${height} pixels; at most ${MAX_IMAGE_PIXELS} (7680 x 4320) are read`,
		);
	if (width * height < minPixels)
		throw new ImageFault("too-small", `The image has ${width} x ${height} pixels; at least ${minPixels} (256 x 256) are needed`);
}

/**
 * Checks the size of an output.
 * @throws {ImageFault} `not-possible`
 */
export function requireWritable({ width, height }: PixelSize): void {
	if (width * height > MAX_IMAGE_PIXELS || Math.max(width, height) > MAX_SIDE)
		throw new ImageFault(
			"not-possible",
			`The result would have ${width} x ${height} pixels; at most ${MAX_IMAGE_PIXELS} in all and ${MAX_SIDE} a side can be made`,
		);
}

/**
 * Checks an image before it waits for its turn: its type, its bytes, its declared size.
 * @throws {ImageFault}
 */
export function requireReadable(bytes: Uint8Array, minPixels: number): void {
	if (bytes.length >= MAX_IMAGE_BYTES)
		throw new ImageFault("too-many-bytes", `The image has ${bytes.length} bytes; it must have less than ${MAX_IMAGE_BYTES}`);
	const size = declaredSize(bytes, imageTypeOf(bytes));
	// A side of 0 is damage, which the decoder reports.
	if (size !== null && size.width > 0 && size.height > 0) requirePixels(size, minPixels);
}
