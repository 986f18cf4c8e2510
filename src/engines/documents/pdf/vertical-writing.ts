import { layCMapsAcross } from "./own-cmaps.ts";
import { type Box, boxAround, type Segment } from "./page-content.ts";

/** Detects text from the top down, with lines from right to left, as in East Asia (ISO 32000-1, 9.7.4.3). */

/** The number of neighbouring letters of a line that are compared. */
const SAMPLE = 400;
/** The number of figures and Latin letters that may be side by side in a vertical line. */
const MOST_UPRIGHT = 4;
/** The first letter of East Asian scripts (Unicode: CJK Radicals). */
const FIRST_LETTER = 0x2e80;

export interface PlacedLetter {
	readonly code: number;
	readonly box: Box;
}

export const isEastAsian = (code: number): boolean => code >= FIRST_LETTER;

/** Returns for each line, as the library splits them, whether it runs from the top down. */
export function linesRunDown(lines: readonly (readonly PlacedLetter[])[]): boolean[] {
	const certain = lines.map((line) => direction(line, isEastAsian));
	if (!certain.includes("down")) return lines.map(() => false);
	const isVerticalPage = lettersThat("down", lines, certain) > lettersThat("across", lines, certain);
	return lines.map((line, index) => {
		const own = certain[index] ?? null;
		if (own !== null) return own === "down";
		const beside = [index - 1, index + 1].flatMap((at) => (certain[at] === "down" ? [lines[at] ?? []] : []));
		// Figures that are upright in a vertical line.
		if (line.length <= MOST_UPRIGHT && beside.some((other) => standsInColumn(line, other))) return true;
		const way = direction(line, () => true);
		return way === null ? isVerticalPage : way === "down";
	});
}

/** Returns whether most counted letters are below or beside the previous one; null if no two follow each other. */
function direction(letters: readonly PlacedLetter[], counts: (code: number) => boolean): "down" | "across" | null {
	let down = 0;
	let pairs = 0;
	let last: PlacedLetter | null = null;
	for (const letter of letters) {
		if (last !== null && counts(last.code) && counts(letter.code)) {
			pairs += 1;
			const across = Math.abs(middle(letter.box).x - middle(last.box).x);
			const below = middle(last.box).y - middle(letter.box).y;
			if (below > 0 && across < below) down += 1;
			if (pairs === SAMPLE) break;
		}
		last = letter;
	}
	return pairs === 0 ? null : down > pairs / 2 ? "down" : "across";
}

const lettersThat = (
	way: "down" | "across",
	lines: readonly (readonly PlacedLetter[])[],
	ways: readonly ("down" | "across" | null)[],
): number => lines.reduce((sum, { length }, index) => sum + (ways[index] === way ? length : 0), 0);

/** Returns true within the width of a vertical line, at most a letter away from it. */
function standsInColumn(line: readonly PlacedLetter[], column: readonly PlacedLetter[]): boolean {
	const [own, other] = [boxAround(line.map(({ box }) => box)), boxAround(column.map(({ box }) => box))];
	const width = Math.max(other.right - other.left, own.right - own.left);
	const across = Math.abs(middle(own).x - middle(other).x);
	const gap = Math.max(own.bottom - other.top, other.bottom - own.top);
	return across < width / 2 && gap < width;
}

/** Rotates by a quarter turn, so that lines run from left to right, the first at the top. */
export const turned = ({ left, right, top, bottom }: Box): Box => ({ left: -top, right: -bottom, top: right, bottom: left });

/** Returns the position on the page of a rotated box. */
export const turnedBack = ({ left, right, top, bottom }: Box): Box => ({ left: bottom, right: top, top: -left, bottom: -right });

/** Returns the vertical line for a line that was laid out from left to right at its start. */
export function laidDown(segment: Segment): Segment {
	const { left, right, top, size } = segment;
	return { ...segment, left: -top, right: right - left - top, top: left + size / 2, bottom: left - size / 2 };
}

/** Names of encodings for vertical writing end with V (ISO 32000-1, table 118); the horizontal ones with H. */
const VERTICAL_ENCODING = /\/Encoding\s*\/[A-Za-z0-9-]+-V(?=[\s/>])/g;

/**
 * Returns the file with all text laid out from left to right; null if none is vertical. PDFium skips vertical text of a font
 * that is neither in the file nor in the system, because it has no shapes and so no width.
 */
export function withoutVerticalWriting(bytes: Uint8Array): Uint8Array | null {
	const changed = Buffer.from(bytes);
	let isVertical = false;
	for (const { 0: entry, index } of changed.toString("latin1").matchAll(VERTICAL_ENCODING)) {
		isVertical = true;
		changed.write("H", index + entry.length - 1, "latin1");
	}
	const maps = layCMapsAcross(changed);
	return isVertical || maps > 0 ? changed : null;
}

const middle = ({ left, right, top, bottom }: Box) => ({ x: (left + right) / 2, y: (top + bottom) / 2 });
