import { type Box, boxAround } from "./page-content.ts";

/** The minimum width of a gutter between columns, in points. */
const MIN_GUTTER = 7;
const MIN_SIDE_LINES = 3;
const MAX_CUTS = 40;
/** The minimum gap above a footer, in its own heights. */
const FOOT_GAP = 3;
/** A page with more pieces is a map or a drawing without columns, and the search would take long. */
const MAX_ITEMS = 300;

/** An item on a page; its number of lines distinguishes columns from a single piece at the side. */
export interface Placed extends Box {
	readonly lineCount: number;
}

/**
 * Returns the pieces of a page in reading order: bands from top to bottom, and in a band columns from left to right (recursive
 * cuts along white space).
 */
export function readingOrder<T extends Placed>(items: readonly T[], depth = 0): T[] {
	if (items.length < 2 || items.length > MAX_ITEMS || depth > MAX_CUTS) return byPlace(items);
	const foot = depth === 0 ? footOf(items) : [];
	if (foot.length > 0) {
		const rest = items.filter((item) => !foot.includes(item));
		return [...readingOrder(rest, depth + 1), ...byPlace(foot)];
	}
	const gutter = gutterOf(items);
	if (gutter !== null) {
		const left = items.filter((item) => item.right <= gutter + 0.5);
		const right = items.filter((item) => item.right > gutter + 0.5);
		return [...readingOrder(left, depth + 1), ...readingOrder(right, depth + 1)];
	}
	const groups = bandsOf(items);
	if (groups.length === 1) return byPlace(items);
	return groups.flatMap((group) => readingOrder(group, depth + 1));
}

const byPlace = <T extends Placed>(items: readonly T[]): T[] => [...items].sort((a, b) => b.top - a.top || a.left - b.left);

/** Returns a line far below all others, with a page's number or name, which belongs to no column above it. */
function footOf<T extends Placed>(items: readonly T[]): T[] {
	const lowest = items.reduce((low, item) => (item.bottom < low.bottom ? item : low));
	const foot = items.filter((item) => item.bottom < lowest.top);
	if (foot.length === items.length || foot.some(({ lineCount }) => lineCount > 1)) return [];
	const top = Math.max(...foot.map((item) => item.top));
	const above = items
		.filter((item) => !foot.includes(item))
		.reduce((low, { bottom }) => Math.min(low, bottom), Number.POSITIVE_INFINITY);
	return above - top > FOOT_GAP * (top - lowest.bottom) ? foot : [];
}

/** Returns bands from top to bottom; those that share a gutter stay together. */
function bandsOf<T extends Placed>(items: readonly T[]): T[][] {
	const bands: T[][] = [];
	let lowest = Number.POSITIVE_INFINITY;
	for (const item of byPlace(items)) {
		const band = bands.at(-1);
		if (band === undefined || item.top <= lowest) bands.push([item]);
		else band.push(item);
		lowest = Math.min(lowest, item.bottom);
	}
	const groups: T[][] = [];
	for (const band of bands) {
		const last = groups.at(-1);
		if (last !== undefined && gutterOf([...last, ...band]) !== null) last.push(...band);
		else groups.push(band);
	}
	return groups;
}

/** Returns the right edge of the left column: an empty strip between two sides with several lines each; null for none. */
function gutterOf(items: readonly Placed[]): number | null {
	const sorted = [...items].sort((a, b) => a.left - b.left);
	let right = Number.NEGATIVE_INFINITY;
	for (const [index, item] of sorted.entries()) {
		if (index > 0 && item.left - right >= MIN_GUTTER && areColumns(sorted.slice(0, index), sorted.slice(index))) return right;
		right = Math.max(right, item.right);
	}
	return null;
}

function areColumns(left: readonly Placed[], right: readonly Placed[]): boolean {
	const lines = (side: readonly Placed[]) => side.reduce((sum, { lineCount }) => sum + lineCount, 0);
	if (lines(left) < MIN_SIDE_LINES || lines(right) < MIN_SIDE_LINES) return false;
	const [a, b] = [boxAround(left), boxAround(right)];
	const beside = Math.min(a.top, b.top) - Math.max(a.bottom, b.bottom);
	return beside > 0.3 * Math.min(a.top - a.bottom, b.top - b.bottom);
}
