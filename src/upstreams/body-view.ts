import { type JsonMember, type MemberEdit, objectMembers } from "../wire/index.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const NULL = encoder.encode("null");
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const TRUE_STARTS = 0x74;
const FALSE_STARTS = 0x66;

/** A JSON value in place: `bytes` from `start` to `end`. */
export interface JsonSlice {
	readonly bytes: Uint8Array;
	readonly start: number;
	readonly end: number;
}

/**
 * A request body and the edits that gather on the way to an upstream. `slice` shows a field as it will be
 * sent; `set` and `drop` add edits. Nothing is parsed that nobody asks for.
 */
export class BodyView {
	readonly edits: Map<string, MemberEdit>;
	readonly #raw: Uint8Array;
	readonly #members = new Map<string, JsonMember>();

	constructor(raw: Uint8Array, members: readonly JsonMember[], edits: ReadonlyMap<string, string | null>) {
		this.#raw = raw;
		for (const member of members) this.#members.set(member.key, member);
		this.edits = new Map(edits);
	}

	/** The value under the key; undefined where it is absent or null. */
	slice(key: string): JsonSlice | undefined {
		const edit = this.edits.get(key);
		if (edit === null) return undefined;
		if (edit !== undefined) {
			const bytes = typeof edit === "string" ? encoder.encode(edit) : edit;
			return isNull(bytes, 0, bytes.length) ? undefined : { bytes, start: 0, end: bytes.length };
		}
		const member = this.#members.get(key);
		if (!member || isNull(this.#raw, member.valueStart, member.valueEnd)) return undefined;
		return { bytes: this.#raw, start: member.valueStart, end: member.valueEnd };
	}

	/** A small value, parsed. */
	value(key: string): unknown {
		const slice = this.slice(key);
		return slice && parseSlice(slice);
	}

	/** True where the key stands in the body, be it with null. */
	has(key: string): boolean {
		return this.edits.has(key) ? this.edits.get(key) !== null : this.#members.has(key);
	}

	set(key: string, value: string | Uint8Array): void {
		this.edits.set(key, value);
	}

	drop(key: string): void {
		if (this.has(key)) this.edits.set(key, null);
	}

	/** The value goes out under another name. */
	rename(key: string, name: string): void {
		const slice = this.slice(key);
		this.drop(key);
		if (slice) this.set(name, slice.bytes.subarray(slice.start, slice.end));
	}
}

/** The value, parsed; the common kinds without a parser. */
export function parseSlice({ bytes, start, end }: JsonSlice): unknown {
	const first = bytes[start];
	if (first === TRUE_STARTS) return true;
	if (first === FALSE_STARTS) return false;
	if (first === QUOTE && !hasEscape(bytes, start, end)) return decoder.decode(bytes.subarray(start + 1, end - 1));
	return JSON.parse(decoder.decode(bytes.subarray(start, end)));
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
	for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
	return false;
}

/** One member of an object in place, without parsing the others; undefined where it is absent, null, or no object. */
export function memberOf(object: JsonSlice | undefined, key: string): JsonSlice | undefined {
	if (object?.bytes[object.start] !== 0x7b) return undefined;
	const member = objectMembers(object.bytes, object.start).findLast((candidate) => candidate.key === key);
	if (!member || isNull(object.bytes, member.valueStart, member.valueEnd)) return undefined;
	return { bytes: object.bytes, start: member.valueStart, end: member.valueEnd };
}

function isNull(bytes: Uint8Array, start: number, end: number): boolean {
	return end - start === 4 && NULL.every((byte, index) => bytes[start + index] === byte);
}
