import sharp from "sharp";
import type { OutputFormat, Picture } from "../port.ts";
import { openImage } from "./open-image.ts";
import { WHITE, writeImage } from "./write-image.ts";

/** The number of patches that remain along the longer side. */
const PATCHES = 8;

/**
 * Blurs an image beyond recognition: at most 8 x 8 averages remain, and no outline of transparency.
 * @throws {ImageFault}
 */
export async function blur(bytes: Uint8Array, output: OutputFormat): Promise<Picture> {
	const { image, width, height } = await openImage(bytes);
	const patches = await image
		.flatten({ background: WHITE })
		.resize({ width: PATCHES, height: PATCHES, fit: "inside", fastShrinkOnLoad: false })
		.raw()
		.toBuffer({ resolveWithObject: true });
	const { width: across, height: down, channels } = patches.info;
	const soft = sharp(patches.data, { raw: { width: across, height: down, channels } }).resize({
		width,
		height,
		fit: "fill",
		kernel: "cubic",
	});
	return writeImage(soft.toColourspace("srgb"), output);
}
