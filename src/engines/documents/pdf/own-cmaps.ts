import { constants, deflateSync, inflateSync, type ZlibOptions } from "node:zlib";

/** A CMap of all of Unicode has less. */
const MAX_CMAP_BYTES = 4 * 2 ** 20;
/** The longest distance between the type and the beginning of an object, or of its stream. */
const HEAD_CHARS = 2_048;
const CMAP = /\/Type\s*\/CMap\b/g;
/** The writing mode of a CMap, and the predefined CMap on which it builds (ISO 32000-1, 9.7.5.4). */
const VERTICAL = /\/WMode\s+1(?!\d)|\/[A-Za-z0-9-]+-V(?=[\s/>])/g;
const COMMENTS = /%[^\r\n]*/g;
const LENIENT: ZlibOptions = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_CMAP_BYTES };

/**
 * Changes the CMaps in a file that are for vertical writing to horizontal ones, in place: the file keeps its size. Returns how
 * many are changed. A packed CMap stays vertical if it does not fit its place.
 */
export function layCMapsAcross(file: Buffer): number {
	let count = 0;
	let done = 0;
	const text = file.toString("latin1");
	for (const { index } of text.matchAll(CMAP)) {
		if (index < done) continue;
		const before = text.slice(Math.max(0, index - HEAD_CHARS), index);
		const begin = index - before.length + Math.max(0, before.lastIndexOf("obj"));
		const [mark] = /\bstream\r?\n/.exec(text.slice(index, index + HEAD_CHARS)) ?? [];
		const start = mark === undefined ? -1 : text.indexOf(mark, index) + mark.length;
		const end = text.indexOf("endstream", start);
		if (start < 0 || end < 0) continue;
		done = end;
		const head = text.slice(begin, start);
		const stream = across(text.slice(start, end), /\/FlateDecode\b/.test(head));
		if (stream === null) continue;
		file.write(head.replace(VERTICAL, horizontal), begin, "latin1");
		file.write(stream, start, "latin1");
		count += 1;
	}
	return count;
}

/** Returns the content of a stream for horizontal writing, of the same length; null if it is not vertical or does not fit. */
function across(stream: string, isPacked: boolean): string | null {
	if (!isPacked) return stream.search(VERTICAL) < 0 ? null : stream.replace(VERTICAL, horizontal);
	let map: string;
	try {
		map = inflateSync(Buffer.from(stream, "latin1"), LENIENT).toString("latin1");
	} catch {
		return null;
	}
	if (map.search(VERTICAL) < 0) return null;
	const shorter = map.replace(VERTICAL, horizontal).replaceAll(COMMENTS, "");
	const packed = deflateSync(Buffer.from(shorter, "latin1"), { level: 9 }).toString("latin1");
	return packed.length <= stream.length ? packed.padEnd(stream.length, "\n") : null;
}

const horizontal = (entry: string): string => entry.slice(0, -1) + (entry.endsWith("V") ? "H" : "0");
