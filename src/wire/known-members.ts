import { foldedName } from "./folded-name.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";
import { decodeString, endOfString, endOfValue, skipWhitespace } from "./json-scan.ts";

/** A member that some JSON readers may take for a known one, or for another value of it. */
export interface AmbiguousMember {
	readonly path: (string | number)[];
	/** The known name that it resembles; if that is its own name it is repeated. */
	readonly known: string;
}

interface KnownMember {
	readonly value: KnownMembers;
	/** Number of the object in which it was seen last. Shared by all checks: none of them waits. */
	seenIn: number;
}

/** Maximum length of a refused name in a message; the part after a NUL may be long. */
const MAX_TOLD_NAME = 64;

/** Counts the objects of all checks. */
let objects = 0;

/**
 * The member names that count at one place of a JSON text, and below it. A place without names is free: it is not
 * checked.
 */
export class KnownMembers {
	readonly #byName = new Map<string, KnownMember>();
	readonly #nameByFolded = new Map<string, string>();
	#elements: KnownMembers | null = null;
	#isFree = false;

	/** Returns the place of the member's value. Adds a new name. */
	member(name: string): KnownMembers {
		const known = this.#byName.get(name);
		if (known !== undefined) return known.value;
		const value = new KnownMembers();
		this.#byName.set(name, { value, seenIn: 0 });
		this.#nameByFolded.set(foldedName(name), name);
		return value;
	}

	/** Returns the place of the elements, where the value is an array. */
	elements(): KnownMembers {
		this.#elements ??= new KnownMembers();
		return this.#elements;
	}

	/** Allows anything here, under any name. */
	setFree(): void {
		this.#isFree = true;
	}

	/**
	 * Returns the known name of which this is another spelling; undefined if there is none, or the name itself is
	 * known.
	 */
	like(name: string): string | undefined {
		return this.#byName.has(name) ? undefined : this.#nameByFolded.get(foldedName(name));
	}

	/**
	 * Returns the first member that differs from a known one in spelling alone, or that repeats one below the top level;
	 * null if there is none. At the top level the last of a name counts, and only that one is forwarded. `bytes` is
	 * valid JSON.
	 */
	ambiguousIn(bytes: Uint8Array, start: number): AmbiguousMember | null {
		const walk = new Walk(bytes);
		walk.value(this, start, true);
		return walk.ambiguous;
	}

	/** The place of the elements, if it has one. */
	get elementsOrNull(): KnownMembers | null {
		return this.#isFree ? null : this.#elements;
	}
	get hasNames(): boolean {
		return !this.#isFree && this.#byName.size > 0;
	}
	known(name: string): KnownMember | undefined {
		return this.#byName.get(name);
	}
}

/** One pass over the places with known names; everything else is skipped. It goes no deeper than the known names. */
class Walk {
	readonly #bytes: Uint8Array;
	ambiguous: AmbiguousMember | null = null;

	constructor(bytes: Uint8Array) {
		this.#bytes = bytes;
	}

	/** Returns where the value ends. An ambiguous member ends the walk; the position is then meaningless. */
	value(place: KnownMembers, start: number, isTop = false): number {
		const first = this.#bytes[start];
		if (first === OPEN_BRACE && place.hasNames) return this.#object(place, start, isTop);
		const elements = first === OPEN_BRACKET ? place.elementsOrNull : null;
		return elements === null ? endOfValue(this.#bytes, start) : this.#array(elements, start);
	}

	#object(place: KnownMembers, open: number, isTop: boolean): number {
		const bytes = this.#bytes;
		const object = ++objects;
		let at = skipWhitespace(bytes, open + 1);
		while (bytes[at] === QUOTE) {
			const keyEnd = endOfString(bytes, at);
			const name = decodeString(bytes, at, keyEnd);
			const valueStart = skipWhitespace(bytes, skipWhitespace(bytes, keyEnd) + 1);
			const known = place.known(name);
			const repeats = known?.seenIn === object && !isTop;
			const like = known === undefined ? place.like(name) : repeats ? name : undefined;
			if (like !== undefined) {
				this.ambiguous = { path: [name.slice(0, MAX_TOLD_NAME)], known: like };
				return valueStart;
			}
			if (known !== undefined) known.seenIn = object;
			const end = known === undefined ? endOfValue(bytes, valueStart) : this.value(known.value, valueStart);
			if (this.ambiguous !== null) {
				this.ambiguous.path.unshift(name);
				return end;
			}
			at = skipWhitespace(bytes, end);
			if (bytes[at] !== COMMA) break;
			at = skipWhitespace(bytes, at + 1);
		}
		return bytes[at] === CLOSE_BRACE ? at + 1 : bytes.length;
	}

	#array(elements: KnownMembers, open: number): number {
		const bytes = this.#bytes;
		let at = skipWhitespace(bytes, open + 1);
		if (bytes[at] === CLOSE_BRACKET) return at + 1;
		for (let index = 0; at < bytes.length; index++) {
			const end = this.value(elements, at);
			if (this.ambiguous !== null) {
				this.ambiguous.path.unshift(index);
				return end;
			}
			at = skipWhitespace(bytes, end);
			if (bytes[at] !== COMMA) break;
			at = skipWhitespace(bytes, at + 1);
		}
		return at + 1;
	}
}
