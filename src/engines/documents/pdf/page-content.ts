/** What a page is made of, in points from its lower left corner. */
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
	/** Its last word goes on in the next line. */
	readonly hyphen: boolean;
}

export interface PageContent {
	/** Lines from left to right, in the order of the file. */
	readonly segments: readonly Segment[];
	/** Lines from the top down, turned (`turned`): in coordinates in which they run from left to right. */
	readonly verticalSegments: readonly Segment[];
	/** Form fields and notes. */
	readonly extras: readonly string[];
	/** Letters and digits on it. */
	readonly letters: number;
	/** Something else than text is drawn on it: pictures, lines, letters drawn as lines. */
	readonly isDrawnOn: boolean;
	/** Objects of text that the library leaves out, by their place among all of them. */
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

/** On one line: their middles lie within each other's height. */
export function sameLine(a: Segment, b: Segment): boolean {
	const middle = (a.top + a.bottom) / 2 - (b.top + b.bottom) / 2;
	return Math.abs(middle) < 0.5 * Math.min(a.size, b.size);
}
