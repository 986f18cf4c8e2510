import type { Box, Segment } from "./page-content.ts";

/** Text that runs from the top down, its lines from right to left, as East Asia writes it (ISO 32000-1, 9.7.4.3). */

/** Pairs of neighbours that are looked at. */
const SAMPLE = 400;
const MOST_LETTERS = 2_000;
/** The first letter of East Asian scripts (Unicode: CJK Radicals). */
const FIRST_LETTER = 0x2e80;

export interface PlacedLetter {
	readonly code: number;
	readonly box: Box;
}

/** Whether most letters stand below the one before. */
export function runsDown(letters: Iterable<PlacedLetter>): boolean {
	let down = 0;
	let pairs = 0;
	let last: PlacedLetter | null = null;
	let looked = 0;
	for (const letter of letters) {
		if (++looked > MOST_LETTERS) break;
		if (last !== null && last.code >= FIRST_LETTER && letter.code >= FIRST_LETTER) {
			pairs += 1;
			const across = Math.abs(middle(letter.box).x - middle(last.box).x);
			const below = middle(last.box).y - middle(letter.box).y;
			if (below > 0 && across < below) down += 1;
			if (pairs === SAMPLE) break;
		}
		last = letter;
	}
	return pairs > 0 && down > pairs / 2;
}

/** A quarter turned, so that lines run from left to right, the first at the top. */
export const turned = ({ left, right, top, bottom }: Box): Box => ({ left: -top, right: -bottom, top: right, bottom: left });

/** A line that was laid out from left to right at the place where it begins, as the line from the top down that it is. */
export function laidDown(segment: Segment): Segment {
	const { left, right, top, size } = segment;
	return { ...segment, left: -top, right: right - left - top, top: left + size / 2, bottom: left - size / 2 };
}

/** The name of an encoding for vertical writing ends with V (ISO 32000-1, table 118); its twin for horizontal, with H. */
const VERTICAL_ENCODING = /\/Encoding\s*\/[A-Za-z0-9-]+-V(?=[\s/>])/g;

/**
 * The file with all its text laid out from left to right; null where no text of it runs down. PDFium leaves out vertical
 * text of a font that is neither in the file nor in the system: it has no shapes, and so no width.
 */
export function withoutVerticalWriting(bytes: Uint8Array): Uint8Array | null {
	const changed = Buffer.from(bytes);
	let found = false;
	for (const { 0: entry, index } of changed.toString("latin1").matchAll(VERTICAL_ENCODING)) {
		found = true;
		changed.write("H", index + entry.length - 1, "latin1");
	}
	return found ? changed : null;
}

const middle = ({ left, right, top, bottom }: Box) => ({ x: (left + right) / 2, y: (top + bottom) / 2 });
