import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";

/** Strings are read byte by byte up to this length, then by native search: most strings are short. */
const NEAR = 24;

/** Call traces nest two levels for each call, and a chain allows 1,024 calls inside each other. */
const MAX_DEPTH = 16_384;

const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const MAX_SCALAR = 1_024;

const NONE = new Uint8Array(0);
const FIRST_LEVELS = 32;

/** Thrown for a value that is no JSON: mismatched brackets, an unknown word, or too deep nesting. */
export class NotJson extends Error {
	override readonly name = "NotJson";
}

/**
 * Finds the end of one JSON value while its bytes arrive. Brackets must match and a scalar must be valid; the content
 * between brackets is not checked further. Linear for any input, and stores only one bit a level.
 */
export class JsonValueEnd {
	#kind: "none" | "string" | "container" | "scalar" = "none";
	#depth = 0;
	#inString = false;
	#escaped = false;
	/** One bit for each open bracket: true for a brace. Created when needed. */
	#braces: Uint8Array = NONE;
	#scalar = "";

	/**
	 * Returns the index after the value, which began at `from` or in earlier bytes; -1 if it continues. Throws
	 * NotJson.
	 */
	feed(bytes: Uint8Array, from: number): number {
		if (from >= bytes.length) return -1;
		let start = from;
		if (this.#kind === "none") {
			const first = bytes[from];
			if (first === QUOTE) {
				this.#kind = "string";
				this.#inString = true;
				start++;
			} else this.#kind = first === OPEN_BRACE || first === OPEN_BRACKET ? "container" : "scalar";
		}
		if (this.#kind === "scalar") return this.#feedScalar(bytes, start);
		if (this.#kind === "container") return this.#feedContainer(bytes, start);
		return this.#closeString(bytes, start);
	}

	/** Returns the index after the closing quote; -1 if the string continues. */
	#closeString(bytes: Uint8Array, from: number): number {
		const end = endOfOpenString(bytes, this.#escaped ? from + 1 : from);
		this.#escaped = end === ESCAPED;
		if (end < 0) return -1;
		this.#inString = false;
		return end;
	}

	#feedContainer(bytes: Uint8Array, from: number): number {
		const { length } = bytes;
		let braces = this.#braces;
		let depth = this.#depth;
		let at = from;
		if (this.#inString) {
			at = this.#closeString(bytes, at);
			if (at < 0) return -1;
		}
		while (at < length) {
			const byte = bytes[at++];
			if (byte === QUOTE) {
				at = endOfOpenString(bytes, at);
				if (at < 0) {
					this.#inString = true;
					this.#escaped = at === ESCAPED;
					break;
				}
			} else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
				if (depth === braces.length) braces = this.#deeper(depth);
				braces[depth++] = byte === OPEN_BRACE ? 1 : 0;
			} else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
				if (braces[--depth] !== (byte === CLOSE_BRACE ? 1 : 0)) throw new NotJson("a bracket closes what another kind opened");
				if (depth === 0) {
					this.#depth = 0;
					return at;
				}
			}
		}
		this.#depth = depth;
		return -1;
	}

	#deeper(depth: number): Uint8Array {
		if (depth >= MAX_DEPTH) throw new NotJson(`it nests more than ${MAX_DEPTH} levels deep`);
		const wider = new Uint8Array(Math.max(FIRST_LEVELS, depth * 2));
		wider.set(this.#braces);
		this.#braces = wider;
		return wider;
	}

	#feedScalar(bytes: Uint8Array, from: number): number {
		let at = from;
		for (; at < bytes.length; at++) {
			const byte = bytes[at];
			if (byte === undefined || byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) break;
		}
		if (this.#scalar.length + at - from > MAX_SCALAR) throw new NotJson("a word is no value");
		this.#scalar += Buffer.prototype.latin1Slice.call(bytes, from, at);
		if (at === bytes.length) return -1;
		if (!SCALAR.test(this.#scalar)) throw new NotJson("a word is no value");
		return at;
	}
}

const OPEN = -1;
/** The bytes end between a backslash and the escaped character. */
const ESCAPED = -2;

/**
 * Returns the index after the closing quote of a string whose content begins or continues at `from`; OPEN or ESCAPED
 * without one.
 */
function endOfOpenString(bytes: Uint8Array, from: number): number {
	const { length } = bytes;
	let at = from;
	for (;;) {
		const near = Math.min(at + NEAR, length);
		while (at < near) {
			const byte = bytes[at];
			if (byte === QUOTE) return at + 1;
			at += byte === BACKSLASH ? 2 : 1;
		}
		if (at >= length) return at > length ? ESCAPED : OPEN;
		const quote = bytes.indexOf(QUOTE, at);
		const stop = quote < 0 ? length : quote;
		let run = stop;
		while (run > at && bytes[run - 1] === BACKSLASH) run--;
		const escaped = (stop - run) % 2 === 1;
		if (quote < 0) return escaped ? ESCAPED : OPEN;
		if (!escaped) return quote + 1;
		at = quote + 1;
	}
}
