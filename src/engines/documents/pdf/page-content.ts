/** A box on a page, in points from its lower left corner. */
export interface Box {
	readonly left: number;
	readonly right: number;
	readonly top: number;
	readonly bottom: number;
}

/** Text on one line without a wide gap. */
export interface Segment extends Box {
	readonly text: string;
	/** The height of its letters. */
	readonly size: number;
	readonly bold: boolean;
	/** Its last word continues in the next line. */
	readonly hyphen: boolean;
}

export interface PageContent {
	/** Lines from left to right, in the order of the file. */
	readonly segments: readonly Segment[];
	/** Lines from the top down, rotated (`turned`) into coordinates in which they run from left to right. */
	readonly verticalSegments: readonly Segment[];
	/** Form fields and notes. */
	readonly extras: readonly string[];
	/** The number of letters and digits on the page. */
	readonly letters: number;
	/** The page has more than text: pictures, lines, letters drawn as lines. */
	readonly isDrawnOn: boolean;
	/** Text objects that the library skips, by their index among all of them. */
	readonly leftOut: ReadonlySet<number>;
}

export const boxAround = (boxes: readonly Box[]): Box => ({
	left: Math.min(...boxes.map((box) => box.left)),
	right: Math.max(...boxes.map((box) => box.right)),
	top: Math.max(...boxes.map((box) => box.top)),
	bottom: Math.min(...boxes.map((box) => box.bottom)),
});

export const overlapX = (a: Box, b: Box): number => Math.min(a.right, b.right) - Math.max(a.left, b.left);

export const overlapY = (a: Box, b: Box): number => Math.min(a.top, b.top) - Math.max(a.bottom, b.bottom);

/** Returns true for segments on one line: the middle of each lies within the other's height. */
export function sameLine(a: Segment, b: Segment): boolean {
	const middle = (a.top + a.bottom) / 2 - (b.top + b.bottom) / 2;
	return Math.abs(middle) < 0.5 * Math.min(a.size, b.size);
}
