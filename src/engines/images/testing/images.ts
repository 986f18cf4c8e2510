/** The image engine, running, and what tests look at its pictures with. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { AssetStore, loadManifest } from "../../../assets/index.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { EmbeddedImages, type EmbeddedImagesOptions } from "../embedded-images.ts";

const CHECKOUT = join(import.meta.dir, "../../../..");

export const NEVER = new AbortController().signal;
export const PNG = { format: "png" } as const;

/** Kept between runs. */
export function assetStore(): AssetStore {
	const manifest = loadManifest(join(CHECKOUT, "catalog/assets.json"));
	return new AssetStore({ dir: join(CHECKOUT, ".cache/assets"), manifest, log: silentLog });
}

export function imagesOf(options: Partial<EmbeddedImagesOptions> = {}): EmbeddedImages {
	return new EmbeddedImages({ log: silentLog, assets: assetStore(), processes: 1, ...options });
}

export const sample = (name: string): Uint8Array => readFileSync(join(CHECKOUT, "test/samples/images", name));

export type Rgba = readonly [r: number, g: number, b: number, alpha: number];

/** A picture whose pixels are told by their place. */
export function painted(
	width: number,
	height: number,
	colourAt: (x: number, y: number) => readonly number[],
	format: "png" | "jpeg" | "webp" | "gif" | "avif" | "tiff" = "png",
): Promise<Buffer> {
	const data = Buffer.alloc(width * height * 4);
	for (let y = 0; y < height; y += 1)
		for (let x = 0; x < width; x += 1) {
			const [r = 0, g = 0, b = 0, alpha = 255] = colourAt(x, y);
			data.set([r, g, b, alpha], (y * width + x) * 4);
		}
	const image = sharp(data, { raw: { width, height, channels: 4 } });
	if (format === "png" || format === "gif") return image.toFormat(format).toBuffer();
	if (format === "tiff") return image.tiff({ compression: "lzw" }).toBuffer();
	return image.removeAlpha().toFormat(format, { quality: 95 }).toBuffer();
}

export interface Pixels {
	readonly width: number;
	readonly height: number;
	at(x: number, y: number): Rgba;
}

export async function pixelsOf(bytes: Uint8Array): Promise<Pixels> {
	const { data, info } = await sharp(bytes).toColourspace("srgb").ensureAlpha().raw().toBuffer({ resolveWithObject: true });
	const { width, height } = info;
	return {
		width,
		height,
		at(x, y) {
			const [r = -1, g = -1, b = -1, alpha = -1] = data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4);
			return [r, g, b, alpha];
		},
	};
}

/** The largest difference of a channel. */
export function distance(a: readonly number[], b: readonly number[]): number {
	return Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? 255))));
}
