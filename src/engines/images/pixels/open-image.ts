/** Opens images with sharp. Import it from the child only: libvips is native code that reads callers' data. */
import sharp, { type Metadata, type Sharp } from "sharp";
import { imageTypeOf } from "../image-type.ts";
import { requirePixels } from "../pixel-limits.ts";
import { ImageFault, MAX_IMAGE_PIXELS } from "../port.ts";

// One job runs at a time in each process, so the number of processes is the number of threads.
sharp.concurrency(1);
sharp.cache(false);
// Only the types of `imageTypeOf` have a loader: no SVG, no PDF, nothing that opens other files.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
	operation: ["Jpeg", "Png", "Webp", "Nsgif", "Heif", "Tiff"].map((reader) => `VipsForeignLoad${reader}Buffer`),
});

export interface OpenedImage {
	/** Upright, its first frame; converted to sRGB when it is written. */
	readonly image: Sharp;
	/** The width of the upright image. */
	readonly width: number;
	readonly height: number;
	readonly hasAlpha: boolean;
	/** True if its type is lossless. */
	readonly lossless: boolean;
}

/**
 * Opens an image by its header, without decoding it.
 * @throws {ImageFault}
 */
export async function openImage(bytes: Uint8Array, minPixels = 0): Promise<OpenedImage> {
	const type = imageTypeOf(bytes);
	const image = sharp(bytes, { failOn: "error", limitInputPixels: MAX_IMAGE_PIXELS, autoOrient: true, pages: 1 });
	const metadata = await image.metadata().catch((fault) => {
		throw readFault(fault);
	});
	requireDecoder(metadata);
	const { width, height } = metadata.autoOrient;
	requirePixels({ width, height }, minPixels);
	const { hasAlpha } = metadata;
	const lossless = type === "png" || type === "gif" || type === "tiff";
	return { image: image.toColourspace("srgb"), width, height, hasAlpha, lossless };
}

/** libvips is built without a decoder for HEVC, whose patents are not free. */
function requireDecoder({ compression }: Metadata): void {
	if (compression === "hevc")
		throw new ImageFault("unsupported", "HEIC is not read here: send a JPEG, PNG, WebP, GIF, AVIF or TIFF");
}

/** Converts a decoder's error, which counts as the image's fault. */
export function readFault(thrown: unknown): unknown {
	if (thrown instanceof ImageFault || !(thrown instanceof Error)) return thrown;
	if (/pixel limit/i.test(thrown.message))
		return new ImageFault("too-many-pixels", `The image has more than ${MAX_IMAGE_PIXELS} pixels (7680 x 4320)`);
	return new ImageFault("corrupt", "The image is cut off or damaged: it cannot be read");
}
