import { constants, inflateSync, type ZlibOptions } from "node:zlib";
import { MAX_INFLATED_BYTES } from "../limits.ts";

/** The number of objects in a rebuilt file; other readers have the same limit. */
const MAX_OBJECTS = 1_000_000;
const OBJECT = /(?:^|[^0-9])(\d{1,10})[ \t\r\n]+(\d{1,5})[ \t\r\n]+obj\b/g;
/** An object's type is in this part of its dictionary. */
const HEAD_CHARS = 2_048;
const ENTRY_DIGITS = 10;

const CATALOG = /\/Type\s*\/Catalog\b/;

interface Place {
	readonly at: number;
	readonly generation: number;
}

/**
 * Returns the file with a new cross-reference table of all objects in it (ISO 32000-1, 7.5.4), as readers rebuild a lost one.
 * Objects within streams are unpacked. Of objects with one number the last counts. null if it has no catalog, or is encrypted:
 * then streams hide their objects.
 */
export function rebuildXref(bytes: Uint8Array): Uint8Array | null {
	const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
	const places = new Map<number, Place>();
	const unpacked = new Map<number, string>();
	let root: number | null = null;
	let left = MAX_INFLATED_BYTES;
	for (const match of text.matchAll(OBJECT)) {
		const [whole, number = "", generation = ""] = match;
		const at = match.index + whole.indexOf(number);
		const id = Number(number);
		if (id === 0 || id > MAX_OBJECTS) continue;
		places.set(id, { at, generation: Number(generation) });
		unpacked.delete(id);
		const from = match.index + whole.length;
		const head = text.slice(from, from + HEAD_CHARS).split("endobj", 1)[0] ?? "";
		if (CATALOG.test(head)) root = id;
		if (!/\/Type\s*\/ObjStm\b/.test(head)) continue;
		for (const [inner, body] of packedObjects(text, from, head, left)) {
			left -= body.length;
			if (inner === 0 || inner > MAX_OBJECTS) continue;
			places.delete(inner);
			unpacked.set(inner, body);
			if (CATALOG.test(body)) root = inner;
		}
	}
	if (root === null) return null;
	const written: string[] = [];
	let end = bytes.length;
	for (const [id, body] of unpacked) {
		places.set(id, { at: end + 1, generation: 0 });
		written.push(`\n${id} 0 obj\n${body}\nendobj`);
		end += written.at(-1)?.length ?? 0;
	}
	return Buffer.concat([bytes, Buffer.from(written.join("") + tableOf(places, root, end + 1), "latin1")]);
}

const LENIENT: ZlibOptions = { finishFlush: constants.Z_SYNC_FLUSH };

/** Returns the objects of an object stream (ISO 32000-1, 7.5.7), by number; none if it cannot be unpacked. */
function packedObjects(text: string, from: number, head: string, maxBytes: number): (readonly [id: number, body: string])[] {
	const [begin] = /\bstream\r?\n/.exec(head) ?? [];
	const count = Number(/\/N\s+(\d{1,7})/.exec(head)?.[1]);
	const first = Number(/\/First\s+(\d{1,9})/.exec(head)?.[1]);
	if (begin === undefined || Number.isNaN(count + first) || maxBytes <= 0) return [];
	const start = from + head.indexOf(begin) + begin.length;
	const end = text.indexOf("endstream", start);
	const raw = Buffer.from(text.slice(start, end < 0 ? undefined : end), "latin1");
	let content: string;
	try {
		const isPacked = /\/FlateDecode\b/.test(head);
		content = (isPacked ? inflateSync(raw, { ...LENIENT, maxOutputLength: maxBytes }) : raw).toString("latin1");
	} catch {
		return [];
	}
	const numbers = content
		.slice(0, first)
		.trim()
		.split(/\s+/, count * 2)
		.map(Number);
	const objects: (readonly [number, string])[] = [];
	for (let index = 0; index + 1 < numbers.length; index += 2) {
		const id = numbers[index] ?? 0;
		const next = numbers[index + 3];
		const body = content.slice(first + (numbers[index + 1] ?? 0), next === undefined ? undefined : first + next);
		if (Number.isInteger(id)) objects.push([id, body]);
	}
	return objects;
}

/**
 * Builds the table.
 * @param at the offset of the table, behind a line end
 */
function tableOf(places: ReadonlyMap<number, Place>, root: number, at: number): string {
	const sorted = [...places].sort(([one], [other]) => one - other);
	const line = (offset: number, generation: number, kind: "f" | "n") =>
		`${String(offset).padStart(ENTRY_DIGITS, "0")} ${String(generation).padStart(5, "0")} ${kind} \n`;
	const sections = sorted.map(([id, place]) => `${id} 1\n${line(place.at, place.generation, "n")}`).join("");
	const size = (sorted.at(-1)?.[0] ?? 0) + 1;
	const trailer = `trailer\n<</Size ${size}/Root ${root} ${places.get(root)?.generation ?? 0} R>>\nstartxref\n${at}\n%%EOF\n`;
	return `\nxref\n0 1\n${line(0, 65_535, "f")}${sections}${trailer}`;
}
