import sharp from "sharp";

/** The colour of what the scripted server paints. */
export const PAINTED = { r: 20, g: 160, b: 90 };

/** A picture in one colour, for a size like `300x200`. */
export function plainPicture(size: string, colour = PAINTED, format: "png" | "jpeg" | "webp" = "png"): Promise<Uint8Array> {
	const [width = 512, height = 512] = size.split("x").map(Number);
	return sharp({ create: { width, height, channels: 3, background: colour } })
		.toFormat(format)
		.toBuffer();
}
