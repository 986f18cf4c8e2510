import { type Box, boxAround, overlapX, type Segment, sameLine } from "./page-content.ts";

/** Lines of one block, in their order. */
export interface PageBlock extends Box {
	readonly lines: readonly Segment[];
}

/** Lines of one block are at most so many letter heights apart. */
const LINE_GAP = 1.1;
/** Pieces of one line are joined across a gap of so many letter heights. */
const JOIN_GAP = 3;
const MARKER_CHARS = 5;
/** Some files alternate between the lines of all columns. */
const OPEN_BLOCKS = 4;
/** This many pieces with the same left edge form a column. */
const COLUMN_LINES = 4;

/** Groups the segments of a page into blocks, in the order of the file. */
export function pageBlocks(segments: readonly Segment[]): PageBlock[] {
	const groups: Segment[][] = [];
	for (const segment of joinedPieces(segments)) {
		const lines = groups.slice(-OPEN_BLOCKS).findLast((group) => {
			const last = group.at(-1);
			return last !== undefined && follows(last, segment);
		});
		if (lines !== undefined) lines.push(segment);
		else groups.push([segment]);
	}
	return groups.map((lines) => ({ lines, ...boxAround(lines) }));
}

/** Joins pieces of one line: a mark and its item, a number and its title, widely spaced words. */
function joinedPieces(segments: readonly Segment[]): Segment[] {
	const joined: Segment[] = [];
	const starts = new Map<number, number>();
	const place = ({ left }: Segment) => Math.round(left / 3);
	for (const segment of segments) starts.set(place(segment), (starts.get(place(segment)) ?? 0) + 1);
	for (const segment of segments) {
		const last = joined.at(-1);
		const gap = last === undefined ? 0 : segment.left - last.right;
		if (last === undefined || !sameLine(last, segment) || gap < 0) joined.push(segment);
		else {
			const isColumn = (starts.get(place(segment)) ?? 0) >= COLUMN_LINES;
			const isMark = last.text.length <= MARKER_CHARS;
			if (gap > JOIN_GAP * last.size * (isMark ? 2 : 1) || (isColumn && !isMark)) joined.push(segment);
			else
				joined[joined.length - 1] = {
					...last,
					...boxAround([last, segment]),
					text: `${last.text} ${segment.text}`,
					hyphen: segment.hyphen,
					size: Math.max(last.size, segment.size),
				};
		}
	}
	return joined;
}

function follows(last: Segment, next: Segment): boolean {
	if (sameLine(last, next) || next.top > last.top) return false;
	const gap = last.bottom - next.top;
	const size = Math.min(last.size, next.size);
	return gap < LINE_GAP * size && overlapX(last, next) > 0 && Math.max(last.size, next.size) < 1.25 * size;
}
