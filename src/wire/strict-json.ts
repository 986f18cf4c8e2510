import { ApiError } from "../errors/index.ts";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";
import { endOfString as endOfLongString, MAX_JSON_DEPTH, skipWhitespace, tooDeep } from "./json-scan.ts";
import { characterLength, isStringContent } from "./json-string.ts";

/** Maximum number of keys of a body (as in BODY_BOUNDS): reading more value by value would block for long. */
const MAX_KEYS = 64_000;
const MAX_VALUES = 256_000;

const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;
const SPACE = 0x20;
const TRUE = [0x74, 0x72, 0x75, 0x65];
const FALSE = [0x66, 0x61, 0x6c, 0x73, 0x65];
const NULL = [0x6e, 0x75, 0x6c, 0x6c];

/** Strings are read byte by byte up to this length, then by native search: most strings are short. */
const NEAR = 64;

/** Set if the open container at each depth is an object. Shared: nothing here waits. */
const isObject = new Uint8Array(MAX_JSON_DEPTH + 1);

/**
 * Checks JSON text by byte ranges as strictly as a parser (RFC 8259), without creating values. It accepts what
 * JSON.parse accepts. Nesting past MAX_JSON_DEPTH and very many keys or values throw INVALID_REQUEST. UTF-8 is checked
 * elsewhere. Returned positions follow the bytes that were read; -1 means invalid JSON, and `faultAt` says where.
 */
export class StrictJson {
	readonly bytes: Uint8Array;
	faultAt = -1;
	#keys = 0;
	#values = 0;

	constructor(bytes: Uint8Array) {
		this.bytes = bytes;
	}

	/** Returns the end of the value that begins at `start`, with all its content. */
	endOfValue(start: number): number {
		const bytes = this.bytes;
		let depth = 0;
		let at = start;
		for (;;) {
			const first = bytes[at];
			if (first === OPEN_BRACE || first === OPEN_BRACKET) {
				if (depth === MAX_JSON_DEPTH) throw tooDeep();
				this.#countValue();
				const object = first === OPEN_BRACE;
				const inside = skipWhitespace(bytes, at + 1);
				if (bytes[inside] === (object ? CLOSE_BRACE : CLOSE_BRACKET)) at = inside + 1;
				else {
					isObject[++depth] = object ? 1 : 0;
					at = object ? this.endOfKey(inside) : inside;
					if (at < 0) return -1;
					continue;
				}
			} else {
				at = this.#endOfScalar(at);
				if (at < 0) return -1;
			}
			while (depth > 0) {
				at = skipWhitespace(bytes, at);
				const byte = bytes[at];
				if (byte === COMMA) break;
				if (byte !== (isObject[depth] === 1 ? CLOSE_BRACE : CLOSE_BRACKET)) return this.#fault(at);
				depth--;
				at++;
			}
			if (depth === 0) return at;
			this.#countValue();
			at = skipWhitespace(bytes, at + 1);
			if (isObject[depth] === 1) {
				at = this.endOfKey(at);
				if (at < 0) return -1;
			}
		}
	}

	#countValue(): void {
		if (++this.#values > MAX_VALUES) throw tooMany(MAX_VALUES, "values");
	}

	/** Reads a member's key with its colon and the white space around, and returns where its value begins. */
	endOfKey(start: number): number {
		if (++this.#keys > MAX_KEYS) throw tooMany(MAX_KEYS, "keys");
		if (this.bytes[start] !== QUOTE) return this.#fault(start);
		const end = this.endOfString(start);
		return end < 0 ? -1 : this.endOfColon(end);
	}

	/** Returns the end of a colon with the white space around it. */
	endOfColon(start: number): number {
		const colon = skipWhitespace(this.bytes, start);
		return this.bytes[colon] === COLON ? skipWhitespace(this.bytes, colon + 1) : this.#fault(colon);
	}

	/** Returns the end of the string whose opening quote is at `open`. */
	endOfString(open: number): number {
		const bytes = this.bytes;
		const near = Math.min(open + 1 + NEAR, bytes.length);
		let at = open + 1;
		while (at < near) {
			const byte = bytes[at] as number;
			if (byte === QUOTE) return at + 1;
			if (byte === BACKSLASH) {
				const length = characterLength(bytes, at);
				if (length === 0) return this.#fault(at);
				at += length;
			} else if (byte < SPACE) return this.#fault(at);
			else at++;
		}
		const end = at < bytes.length ? endOfLongString(bytes, at - 1) : -1;
		return end < 0 || !isStringContent(bytes, at, end - 1) ? this.#fault(at) : end;
	}

	#endOfScalar(start: number): number {
		switch (this.bytes[start]) {
			case QUOTE:
				return this.endOfString(start);
			case 0x74:
				return this.#endOfWord(start, TRUE);
			case 0x66:
				return this.#endOfWord(start, FALSE);
			case 0x6e:
				return this.#endOfWord(start, NULL);
			default:
				return this.#endOfNumber(start);
		}
	}

	#endOfWord(start: number, word: readonly number[]): number {
		for (let index = 1; index < word.length; index++)
			if (this.bytes[start + index] !== word[index]) return this.#fault(start + index);
		return start + word.length;
	}

	#endOfNumber(start: number): number {
		const bytes = this.bytes;
		let at = bytes[start] === MINUS ? start + 1 : start;
		at = bytes[at] === ZERO ? at + 1 : this.#endOfDigits(at);
		if (at >= 0 && bytes[at] === POINT) at = this.#endOfDigits(at + 1);
		if (at >= 0 && ((bytes[at] ?? 0) | 0x20) === LETTER_E) {
			const sign = bytes[at + 1];
			at = this.#endOfDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
		}
		return at;
	}

	/** Returns the end of at least one digit. */
	#endOfDigits(start: number): number {
		let at = start;
		for (;;) {
			const byte = this.bytes[at];
			if (byte === undefined || byte < ZERO || byte > NINE) break;
			at++;
		}
		return at > start ? at : this.#fault(at);
	}

	#fault(at: number): -1 {
		this.faultAt = at;
		return -1;
	}
}

function tooMany(most: number, what: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `The body has more than ${most} ${what}` });
}
