/** Image sizes: ratios by name, and the pixels of a resolution. */

export interface ImageSize {
	readonly width: number;
	readonly height: number;
}

/** The side of a square of each tier, which gives the tier's area. */
const TIER_SIDES: Readonly<Record<string, number>> = { "1K": 1024, "2K": 2048, "4K": 4096 };
/** Models work in steps of this many pixels. */
const SIDE_STEP = 16;

/** Returns the ratio of a name like `16:9`; null for `auto` and other texts. */
export function ratioOf(name: string): ImageSize | null {
	const match = /^(\d{1,3}):(\d{1,3})$/.exec(name);
	if (match === null) return null;
	const [width, height] = [Number(match[1]), Number(match[2])];
	return width > 0 && height > 0 ? { width, height } : null;
}

/** Returns the name of the ratio that is nearest to a picture's, by the area cut off; null if there is none. */
export function nearestRatio(names: readonly string[], picture: ImageSize): string | null {
	let nearest: string | null = null;
	let leastDistance = Number.POSITIVE_INFINITY;
	for (const name of names) {
		const ratio = ratioOf(name);
		if (ratio === null) continue;
		const distance = Math.abs(Math.log((ratio.width / ratio.height) * (picture.height / picture.width)));
		if (distance >= leastDistance) continue;
		leastDistance = distance;
		nearest = name;
	}
	return nearest;
}

/** Returns the pixels of a resolution in a ratio: its area, each side a multiple of 16. An unknown resolution counts as 1K. */
export function tierSize(resolution: string, ratio: ImageSize): ImageSize {
	const side = TIER_SIDES[resolution] ?? 1024;
	const stretch = Math.sqrt(ratio.width / ratio.height);
	const step = (length: number) => Math.max(SIDE_STEP, Math.round(length / SIDE_STEP) * SIDE_STEP);
	return { width: step(side * stretch), height: step(side / stretch) };
}

/** Returns the largest size of a ratio with at most so many pixels. */
export function largestSize(ratio: ImageSize, pixels: number): ImageSize {
	const scale = Math.sqrt(pixels / (ratio.width * ratio.height));
	// For ratios like 3:2 a whole multiple is exact.
	const exact = scale >= 8 ? Math.floor(scale) : scale;
	return { width: Math.max(1, Math.floor(ratio.width * exact)), height: Math.max(1, Math.floor(ratio.height * exact)) };
}
