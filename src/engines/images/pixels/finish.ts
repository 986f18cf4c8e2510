import type { PixelSize } from "../image-header.ts";
import { requireWritable } from "../pixel-limits.ts";
import type { FinishOptions, Picture } from "../port.ts";
import { openImage } from "./open-image.ts";
import { WHITE, writeImage } from "./write-image.ts";

/**
 * Converts an image to the requested size and format.
 * @throws {ImageFault}
 */
export async function finish(bytes: Uint8Array, options: FinishOptions): Promise<Picture> {
	const opened = await openImage(bytes);
	const { size, fit = "cover", enlarge = true, format } = options;
	if (size === undefined) return writeImage(opened.image, options);
	const target = enlarge ? size : withinImage(size, opened);
	requireWritable(target);
	const background = format === "jpeg" ? WHITE : { ...WHITE, alpha: 0 };
	return writeImage(opened.image.resize({ ...target, fit, background, kernel: "lanczos3", fastShrinkOnLoad: false }), options);
}

/** Returns the largest size of the same ratio that an image fills without enlargement. */
function withinImage(size: PixelSize, image: PixelSize): PixelSize {
	const scale = Math.min(1, image.width / size.width, image.height / size.height);
	return {
		width: Math.max(1, Math.min(image.width, Math.round(size.width * scale))),
		height: Math.max(1, Math.min(image.height, Math.round(size.height * scale))),
	};
}
