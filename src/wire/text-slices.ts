import { setImmediate as nextTurn } from "node:timers/promises";

/** UTF-16 units: work on so many takes a few milliseconds. */
const SLICE_CHARS = 262_144;

/**
 * Does work on a long text slice by slice, and lets the event loop go on between them. No slice parts a surrogate pair.
 * @param work gets a slice and where it starts
 */
export async function sliceBySlice<T>(text: string, work: (slice: string, start: number) => T): Promise<T[]> {
	const results: T[] = [];
	let start = 0;
	do {
		if (start > 0) await nextTurn();
		let end = Math.min(text.length, start + SLICE_CHARS);
		if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
		results.push(work(text.slice(start, end), start));
		start = end;
	} while (start < text.length);
	return results;
}

function isHighSurrogate(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}
