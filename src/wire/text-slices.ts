import { nextTurn } from "./in-turns.ts";

/** Length of a slice in UTF-16 units: work on it takes a few milliseconds. */
const SLICE_CHARS = 262_144;

/** Yields a text in slices; none splits a surrogate pair. */
export function* textSlices(text: string): Generator<string> {
	for (let start = 0; start < text.length; ) {
		let end = Math.min(text.length, start + SLICE_CHARS);
		if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
		yield text.slice(start, end);
		start = end;
	}
}

/**
 * Does work on a long text slice by slice, with a turn of the event loop between any two.
 * @param work gets a slice and its start
 */
export async function sliceBySlice<T>(text: string, work: (slice: string, start: number) => T): Promise<T[]> {
	const results: T[] = [];
	let start = 0;
	for (const slice of text === "" ? [""] : textSlices(text)) {
		if (start > 0) await nextTurn();
		results.push(work(slice, start));
		start += slice.length;
	}
	return results;
}

function isHighSurrogate(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}
