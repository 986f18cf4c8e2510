import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../../wire/index.ts";

const LF = 0x0a;
const SPACE = 0x20;

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
