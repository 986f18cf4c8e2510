/** Objects of a file that is rebuilt; readers have no more. */
const MAX_OBJECTS = 1_000_000;
const OBJECT = /(?:^|[^0-9])(\d{1,10})[ \t\r\n]+(\d{1,5})[ \t\r\n]+obj\b/g;
/** Of an object's dictionary, where its type stands. */
const HEAD_CHARS = 2_048;
const ENTRY_DIGITS = 10;

/**
 * The file with a cross-reference table behind it that names every object found in it (ISO 32000-1, 7.5.4), as readers
 * rebuild one that is lost. Of objects with one number the last counts. null where it has no catalog outside of streams.
 */
export function rebuildXref(bytes: Uint8Array): Uint8Array | null {
	const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
	const places = new Map<number, { readonly at: number; readonly generation: number }>();
	let root: number | null = null;
	for (const match of text.matchAll(OBJECT)) {
		const [whole, number = "", generation = ""] = match;
		const at = match.index + whole.indexOf(number);
		const id = Number(number);
		if (id === 0 || id > MAX_OBJECTS) continue;
		places.set(id, { at, generation: Number(generation) });
		const head = text.slice(match.index + whole.length, match.index + whole.length + HEAD_CHARS);
		if (/\/Type\s*\/Catalog\b/.test(head.split("endobj", 1)[0] ?? "")) root = id;
	}
	if (root === null) return null;
	return Buffer.concat([bytes, Buffer.from(tableOf(places, root, bytes.length + 1), "latin1")]);
}

/** @param at where the table begins, behind a line end */
function tableOf(
	places: ReadonlyMap<number, { readonly at: number; readonly generation: number }>,
	root: number,
	at: number,
): string {
	const sorted = [...places].sort(([one], [other]) => one - other);
	const line = (offset: number, generation: number, kind: "f" | "n") =>
		`${String(offset).padStart(ENTRY_DIGITS, "0")} ${String(generation).padStart(5, "0")} ${kind} \n`;
	const sections = sorted.map(([id, place]) => `${id} 1\n${line(place.at, place.generation, "n")}`).join("");
	const size = (sorted.at(-1)?.[0] ?? 0) + 1;
	const trailer = `trailer\n<</Size ${size}/Root ${root} ${places.get(root)?.generation ?? 0} R>>\nstartxref\n${at}\n%%EOF\n`;
	return `\nxref\n0 1\n${line(0, 65_535, "f")}${sections}${trailer}`;
}
