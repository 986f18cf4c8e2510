const LF = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Converts the bytes of a JSON array, cut anywhere, to one element a line: some servers stream their chunks as the
 * elements of an array. The result has as many bytes as the input.
 */
export class ArrayLines {
	#depth = 0;
	#inString = false;
	#isEscaped = false;

	take(bytes: Uint8Array): Uint8Array {
		return bytes.map((byte) => this.#convert(byte));
	}

	#convert(byte: number): number {
		if (this.#inString) {
			if (this.#isEscaped) this.#isEscaped = false;
			else if (byte === BACKSLASH) this.#isEscaped = true;
			else if (byte === QUOTE) this.#inString = false;
			return byte;
		}
		if (byte === QUOTE) this.#inString = true;
		else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) return this.#depth++ === 0 ? LF : byte;
		else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) return --this.#depth <= 0 ? LF : byte;
		else if (byte === COMMA) return this.#depth <= 1 ? LF : byte;
		else if (byte <= SPACE) return this.#depth <= 1 ? LF : SPACE;
		return byte;
	}
}
