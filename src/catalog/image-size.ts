/** Sizes of pictures: ratios by name, and what a resolution means in pixels. */

export interface ImageSize {
	readonly width: number;
	readonly height: number;
}

/** Of every tier the area of a square. */
const TIER_SIDES: Readonly<Record<string, number>> = { "1K": 1024, "2K": 2048, "4K": 4096 };
/** What models work in. */
const SIDE_STEP = 16;

/** The ratio of a name like `16:9`; null for `auto` and what is none. */
export function ratioOf(name: string): ImageSize | null {
	const found = /^(\d{1,3}):(\d{1,3})$/.exec(name);
	if (found === null) return null;
	const [width, height] = [Number(found[1]), Number(found[2])];
	return width > 0 && height > 0 ? { width, height } : null;
}

/** The ratio among `names` that is nearest to a picture's, by how much would be cut off; null where none is named. */
export function nearestRatio(names: readonly string[], picture: ImageSize): string | null {
	let nearest: string | null = null;
	let least = Number.POSITIVE_INFINITY;
	for (const name of names) {
		const ratio = ratioOf(name);
		if (ratio === null) continue;
		const distance = Math.abs(Math.log((ratio.width / ratio.height) * (picture.height / picture.width)));
		if (distance >= least) continue;
		least = distance;
		nearest = name;
	}
	return nearest;
}

/** Pixels of a resolution in a ratio: its area, each side a multiple of 16. An unknown resolution counts as 1K. */
export function tierSize(resolution: string, ratio: ImageSize): ImageSize {
	const side = TIER_SIDES[resolution] ?? 1024;
	const stretch = Math.sqrt(ratio.width / ratio.height);
	const step = (length: number) => Math.max(SIDE_STEP, Math.round(length / SIDE_STEP) * SIDE_STEP);
	return { width: step(side * stretch), height: step(side / stretch) };
}

/** The largest size of a ratio with at most so many pixels. */
export function largestSize(ratio: ImageSize, pixels: number): ImageSize {
	const scale = Math.sqrt(pixels / (ratio.width * ratio.height));
	// Of ratios like 3:2 a whole multiple, which is exact.
	const exact = scale >= 8 ? Math.floor(scale) : scale;
	return { width: Math.max(1, Math.floor(ratio.width * exact)), height: Math.max(1, Math.floor(ratio.height * exact)) };
}
