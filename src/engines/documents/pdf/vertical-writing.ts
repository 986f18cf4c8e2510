import { type Box, boxAround, type Segment } from "./page-content.ts";

/** Text that runs from the top down, its lines from right to left, as East Asia writes it (ISO 32000-1, 9.7.4.3). */

/** Pairs of neighbours of a line that are looked at. */
const SAMPLE = 400;
/** Figures and Latin letters that may stand side by side in a line from the top down. */
const MOST_UPRIGHT = 4;
/** The first letter of East Asian scripts (Unicode: CJK Radicals). */
const FIRST_LETTER = 0x2e80;

export interface PlacedLetter {
	readonly code: number;
	readonly box: Box;
}

export const isEastAsian = (code: number): boolean => code >= FIRST_LETTER;

/** Of each line, as the library parts them, whether it runs from the top down. */
export function linesRunDown(lines: readonly (readonly PlacedLetter[])[]): boolean[] {
	const certain = lines.map((line) => direction(line, isEastAsian));
	if (!certain.includes("down")) return lines.map(() => false);
	const isVerticalPage = lettersThat("down", lines, certain) > lettersThat("across", lines, certain);
	return lines.map((line, index) => {
		const own = certain[index] ?? null;
		if (own !== null) return own === "down";
		const beside = [index - 1, index + 1].flatMap((at) => (certain[at] === "down" ? [lines[at] ?? []] : []));
		// Figures that stand upright in a line from the top down.
		if (line.length <= MOST_UPRIGHT && beside.some((other) => standsInColumn(line, other))) return true;
		const way = direction(line, () => true);
		return way === null ? isVerticalPage : way === "down";
	});
}

/** Where most of the letters that count stand: below the one before, or beside it; null where no two follow each other. */
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

/** Within the width of a line from the top down, and no further from it than a letter. */
function standsInColumn(line: readonly PlacedLetter[], column: readonly PlacedLetter[]): boolean {
	const [own, other] = [boxAround(line.map(({ box }) => box)), boxAround(column.map(({ box }) => box))];
	const width = Math.max(other.right - other.left, own.right - own.left);
	const across = Math.abs(middle(own).x - middle(other).x);
	const gap = Math.max(own.bottom - other.top, other.bottom - own.top);
	return across < width / 2 && gap < width;
}

/** A quarter turned, so that lines run from left to right, the first at the top. */
export const turned = ({ left, right, top, bottom }: Box): Box => ({ left: -top, right: -bottom, top: right, bottom: left });

/** The place on the page of what was turned. */
export const turnedBack = ({ left, right, top, bottom }: Box): Box => ({ left: bottom, right: top, top: -left, bottom: -right });

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
