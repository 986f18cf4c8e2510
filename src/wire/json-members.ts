import { type ByteRange, type JsonMember, objectMembers, skipWhitespace } from "./json-scan.ts";

/** A new value for a member: JSON text or its bytes; null takes the member out. */
export type MemberEdit = string | Uint8Array | null;

const encoder = new TextEncoder();

/** Where the top-level value starts: after white space and a byte order mark. */
function documentStart(bytes: Uint8Array): number {
	const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
	return skipWhitespace(bytes, marked ? 3 : 0);
}

/**
 * The members of a JSON object by byte ranges, in order, duplicates included; keys are decoded. Values are
 * skipped, not parsed: a string of 70 MB costs milliseconds. Throws INVALID_REQUEST for what is no JSON object.
 */
export function topLevelMembers(bytes: Uint8Array): JsonMember[] {
	return objectMembers(bytes, documentStart(bytes));
}

/**
 * The object with members replaced, taken out or added, every other byte as it was. Of members with the same
 * key only the last stays, edits or not: which one counts would depend on who reads it. Returns `bytes`
 * itself where nothing changes. `range` is the object's place where it is not the whole of `bytes`.
 */
export function spliceMembers(
	bytes: Uint8Array,
	members: readonly JsonMember[],
	edits: ReadonlyMap<string, MemberEdit>,
	range?: ByteRange,
): Uint8Array {
	const open = range?.start ?? documentStart(bytes);
	const end = range?.end ?? bytes.length;
	const last = new Map<string, JsonMember>();
	for (const member of members) last.set(member.key, member);
	if (last.size === members.length && !touches(edits, last)) return range ? bytes.subarray(open, end) : bytes;

	const output = new Splice(bytes, open);
	let kept = 0;
	let previousEnd = members[0]?.start ?? open + 1;
	output.copyTo(previousEnd);
	for (const member of members) {
		const edit = edits.get(member.key);
		const stays = last.get(member.key) === member && edit !== null;
		// The separator stays the one that stood before this member; the first that is kept has none.
		if (!stays) output.skipTo(member.valueEnd, previousEnd);
		else {
			if (kept++ === 0) output.skipTo(member.start, previousEnd);
			if (edit !== undefined) output.replace(member.valueStart, member.valueEnd, asBytes(edit));
		}
		previousEnd = member.valueEnd;
	}
	output.copyTo(previousEnd);
	for (const [key, edit] of edits) {
		if (edit === null || last.has(key)) continue;
		output.insert(encoder.encode(`${kept++ > 0 ? "," : ""}${JSON.stringify(key)}:`));
		output.insert(asBytes(edit));
	}
	output.copyTo(end);
	return concatBytes(output.pieces);
}

/** Pieces of a new text: runs of the old one as long as can be, and what replaces the rest. */
class Splice {
	readonly pieces: Uint8Array[] = [];
	readonly #bytes: Uint8Array;
	#from: number;

	constructor(bytes: Uint8Array, from: number) {
		this.#bytes = bytes;
		this.#from = from;
	}

	/** The old text up to here is part of the new one. */
	copyTo(end: number): void {
		if (end > this.#from) this.pieces.push(this.#bytes.subarray(this.#from, end));
		this.#from = end;
	}

	/** The old text up to `from` stays, what follows up to `to` goes. */
	skipTo(to: number, from: number): void {
		if (to === from) return;
		this.copyTo(from);
		this.#from = to;
	}

	replace(start: number, end: number, value: Uint8Array): void {
		this.copyTo(start);
		this.pieces.push(value);
		this.#from = end;
	}

	insert(text: Uint8Array): void {
		this.pieces.push(text);
	}
}

function touches(edits: ReadonlyMap<string, MemberEdit>, present: ReadonlyMap<string, JsonMember>): boolean {
	for (const [key, edit] of edits) if (edit !== null || present.has(key)) return true;
	return false;
}

function asBytes(edit: string | Uint8Array): Uint8Array {
	return typeof edit === "string" ? encoder.encode(edit) : edit;
}

export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
	let length = 0;
	for (const piece of pieces) length += piece.length;
	const whole = new Uint8Array(length);
	let at = 0;
	for (const piece of pieces) {
		whole.set(piece, at);
		at += piece.length;
	}
	return whole;
}
