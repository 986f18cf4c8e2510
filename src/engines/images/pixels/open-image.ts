/** Opening pictures with sharp. Import it from the child only: libvips is native code that reads what callers send. */
import sharp, { type Metadata, type Sharp } from "sharp";
import { imageTypeOf } from "../image-type.ts";
import { requirePixels } from "../pixel-limits.ts";
import { ImageFault, MAX_IMAGE_PIXELS } from "../port.ts";

// One job at a time in each process: the number of processes is the number of threads.
sharp.concurrency(1);
sharp.cache(false);
// Only what `imageTypeOf` lets through has a reader: no SVG, no PDF, nothing that opens other files.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
	operation: ["Jpeg", "Png", "Webp", "Nsgif", "Heif", "Tiff"].map((reader) => `VipsForeignLoad${reader}Buffer`),
});

export interface OpenedImage {
	/** Upright, its first frame; in sRGB once it is written. */
	readonly image: Sharp;
	/** Of the upright picture. */
	readonly width: number;
	readonly height: number;
	readonly hasAlpha: boolean;
	/** Whether its type keeps every pixel as it was. */
	readonly lossless: boolean;
}

/** @throws ImageFault from its header: nothing is decoded yet */
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

/** What a decoder stumbles over is the picture's fault. */
export function readFault(thrown: unknown): unknown {
	if (thrown instanceof ImageFault || !(thrown instanceof Error)) return thrown;
	if (/pixel limit/i.test(thrown.message))
		return new ImageFault("too-many-pixels", `The image has more than ${MAX_IMAGE_PIXELS} pixels (7680 x 4320)`);
	return new ImageFault("corrupt", "The image is cut off or damaged: it cannot be read");
}
