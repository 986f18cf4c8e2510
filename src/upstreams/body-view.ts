import {
	BACKSLASH,
	type JsonMember,
	lastMember,
	type MemberEdit,
	OPEN_BRACE,
	objectMembers,
	QUOTE,
	Splice,
	utf8Text,
} from "../wire/index.ts";

const [LETTER_F, LETTER_L, LETTER_N, LETTER_T, LETTER_U] = [0x66, 0x6c, 0x6e, 0x74, 0x75];

/** A JSON value in place: `bytes` from `start` to `end`. */
export interface JsonSlice {
	readonly bytes: Uint8Array;
	readonly start: number;
	readonly end: number;
}

/**
 * A request body with the edits collected for an upstream. `slice` returns a field as it will be sent; `set` and `drop`
 * add edits. Values are parsed only when read.
 */
export class BodyView {
	readonly edits: Map<string, MemberEdit>;
	readonly #raw: Uint8Array;
	/** Nearly every body has few members: searching the list is cheaper than an index. */
	readonly #members: readonly JsonMember[];

	constructor(raw: Uint8Array, members: readonly JsonMember[], edits: ReadonlyMap<string, MemberEdit>) {
		this.#raw = raw;
		this.#members = members;
		this.edits = new Map(edits);
	}

	/** Returns every key of the body and of the edits; some may be repeated, or be removed. */
	keys(): string[] {
		const keys: string[] = [];
		for (const member of this.#members) keys.push(member.key);
		for (const key of this.edits.keys()) keys.push(key);
		return keys;
	}

	/** Returns the value of the key; undefined if it is absent or null. */
	slice(key: string): JsonSlice | undefined {
		const edit = this.edits.get(key);
		if (edit === null) return undefined;
		if (edit !== undefined) {
			const bytes = typeof edit === "string" ? Buffer.from(edit) : edit instanceof Splice ? edit.bytes() : edit;
			return isNull(bytes, 0, bytes.length) ? undefined : { bytes, start: 0, end: bytes.length };
		}
		const member = lastMember(this.#members, key);
		if (!member || isNull(this.#raw, member.valueStart, member.valueEnd)) return undefined;
		return { bytes: this.#raw, start: member.valueStart, end: member.valueEnd };
	}

	/** Returns a small value, parsed. */
	value(key: string): unknown {
		const slice = this.slice(key);
		return slice && parseSlice(slice);
	}

	/** Returns true if the body has the key, even with null. */
	has(key: string): boolean {
		const edit = this.edits.get(key);
		return edit === undefined ? lastMember(this.#members, key) !== undefined : edit !== null;
	}

	set(key: string, value: Exclude<MemberEdit, null>): void {
		this.edits.set(key, value);
	}

	drop(key: string): void {
		if (this.has(key)) this.edits.set(key, null);
	}

	/** Sends the value under another name. */
	rename(key: string, name: string): void {
		const slice = this.slice(key);
		this.drop(key);
		if (slice) this.set(name, slice.bytes.subarray(slice.start, slice.end));
	}
}

/** Parses the value; the common kinds without a parser. */
export function parseSlice({ bytes, start, end }: JsonSlice): unknown {
	const first = bytes[start];
	if (first === LETTER_T) return true;
	if (first === LETTER_F) return false;
	if (first === QUOTE && !hasEscape(bytes, start, end)) return utf8Text(bytes, start + 1, end - 1);
	return JSON.parse(utf8Text(bytes, start, end));
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
	for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
	return false;
}

/** Returns one member of an object without parsing the others; undefined if it is absent, null, or no object. */
export function memberOf(object: JsonSlice | undefined, key: string): JsonSlice | undefined {
	if (object?.bytes[object.start] !== OPEN_BRACE) return undefined;
	const member = lastMember(objectMembers(object.bytes, object.start), key);
	if (!member || isNull(object.bytes, member.valueStart, member.valueEnd)) return undefined;
	return { bytes: object.bytes, start: member.valueStart, end: member.valueEnd };
}

function isNull(bytes: Uint8Array, start: number, end: number): boolean {
	return (
		end - start === 4 &&
		bytes[start] === LETTER_N &&
		bytes[start + 1] === LETTER_U &&
		bytes[start + 2] === LETTER_L &&
		bytes[start + 3] === LETTER_L
	);
}
