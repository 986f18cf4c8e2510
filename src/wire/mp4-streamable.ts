/**
 * Rewrites MP4 and M4A so that they can be read from the beginning (ISO/IEC 14496-12). Recorders write the index
 * (`moov`) after the audio; a program that reads a pipe cannot seek back to it.
 */

interface Box {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	/** Position where its content begins. */
	readonly content: number;
}

/** Boxes between the index and the tables of offsets. */
const CONTAINERS: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl"]);
const MAX_BOXES = 10_000;

/** Returns the file with its index before its audio; the same bytes where it is so already, or cannot be parsed. */
export function streamableMp4(file: Uint8Array): Uint8Array {
	const boxes = boxesOf(file, 0, file.length);
	const index = boxes?.find(({ type }) => type === "moov");
	const audio = boxes?.find(({ type }) => type === "mdat");
	if (boxes === null || index === undefined || audio === undefined || index.start < audio.start) return file;
	const moved = file.slice(index.start, index.end);
	// The bytes between the start of the audio and the index move back by the index's length.
	if (!shiftOffsets(moved, audio.start, index.start, moved.length)) return file;
	return Buffer.concat([file.subarray(0, audio.start), moved, file.subarray(audio.start, index.start), file.subarray(index.end)]);
}

/** Returns the boxes of a range; null if they do not fill it exactly. */
function boxesOf(bytes: Uint8Array, from: number, to: number): Box[] | null {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const boxes: Box[] = [];
	for (let at = from; at < to; ) {
		if (at + 8 > to || boxes.length >= MAX_BOXES) return null;
		let size = view.getUint32(at);
		let content = at + 8;
		if (size === 1) {
			if (at + 16 > to) return null;
			size = Number(view.getBigUint64(at + 8));
			content = at + 16;
		} else if (size === 0) {
			size = to - at;
		}
		const end = at + size;
		if (end < content || end > to) return null;
		boxes.push({ type: String.fromCharCode(...bytes.subarray(at + 4, at + 8)), start: at, end, content });
		at = end;
	}
	return boxes;
}

/** Adds `by` to every offset of the index that lies in the range. Returns false if the index is malformed. */
function shiftOffsets(index: Uint8Array, from: number, to: number, by: number): boolean {
	const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
	const pending = boxesOf(index, 0, index.length);
	if (pending === null) return false;
	for (let box = pending.pop(); box !== undefined; box = pending.pop()) {
		if (CONTAINERS.has(box.type)) {
			const inner = boxesOf(index, box.content, box.end);
			if (inner === null || pending.length + inner.length > MAX_BOXES) return false;
			pending.push(...inner);
		} else if (box.type === "stco" || box.type === "co64") {
			if (!shiftTable(view, box, from, to, by)) return false;
		}
	}
	return true;
}

function shiftTable(view: DataView, { type, content, end }: Box, from: number, to: number, by: number): boolean {
	if (content + 8 > end) return false;
	const count = view.getUint32(content + 4);
	const width = type === "stco" ? 4 : 8;
	if (count > (end - content - 8) / width) return false;
	for (let entry = 0, at = content + 8; entry < count; entry++, at += width) {
		const offset = width === 4 ? view.getUint32(at) : Number(view.getBigUint64(at));
		if (offset < from || offset >= to) continue;
		if (width === 8) view.setBigUint64(at, BigInt(offset + by));
		else if (offset + by > 0xffff_ffff) return false;
		else view.setUint32(at, offset + by);
	}
	return true;
}
