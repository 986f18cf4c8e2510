import type { PieceMask } from "./piece-mask.ts";

const ESCAPED = /\\(?:u([\da-f]{4})|([^u]))/gi;
const CONTROLS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them (RFC 8259, 7)
const TO_ESCAPE = /["\\\0-\x1f\u0100-\uffff]/g;

/**
 * Masks the strings of JSON that arrives in pieces, whatever is escaped in it (RFC 8259, 7). Bytes are characters up to
 * U+00FF here, so that a piece may end within a character; escapes beyond are the character itself.
 */
export class JsonTextMask {
	readonly #mask: PieceMask;
	#isInside = false;
	/** An escape that continues in the next piece. */
	#rest = "";

	constructor(mask: PieceMask) {
		this.#mask = mask;
	}

	take(piece: Uint8Array): Uint8Array {
		const text = this.#rest + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
		this.#rest = "";
		const output: string[] = [];
		for (let at = 0; at < text.length; ) {
			if (!this.#isInside) {
				const quote = text.indexOf('"', at);
				const end = quote < 0 ? text.length : quote + 1;
				output.push(text.slice(at, end));
				this.#isInside = quote >= 0;
				at = end;
				continue;
			}
			const { end, isWhole } = contentEnd(text, at);
			output.push(encodeText(this.#mask.take(decodeText(text.slice(at, end)))));
			if (!isWhole) {
				this.#rest = text.slice(end);
				break;
			}
			output.push(encodeText(this.#mask.end()), '"');
			this.#isInside = false;
			at = end + 1;
		}
		return Buffer.from(output.join(""), "latin1");
	}

	/** Returns the rest of JSON that ends early. */
	end(): Uint8Array {
		return Buffer.from(encodeText(this.#mask.end()) + this.#rest, "latin1");
	}
}

/** Returns where the content of a string ends: at its quote, else after its last whole character. */
function contentEnd(text: string, start: number): { readonly end: number; readonly isWhole: boolean } {
	let quote = text.indexOf('"', start);
	for (let at = start; ; ) {
		const sign = text.indexOf("\\", at);
		if (quote >= 0 && (sign < 0 || quote < sign)) return { end: quote, isWhole: true };
		if (sign < 0) return { end: text.length, isWhole: false };
		const next = sign + (text[sign + 1] === "u" ? 6 : 2);
		if (next > text.length) return { end: sign, isWhole: false };
		at = next;
		if (quote >= 0 && quote < at) quote = text.indexOf('"', at);
	}
}

function decodeText(content: string): string {
	if (!content.includes("\\")) return content;
	return content.replaceAll(ESCAPED, (written: string, digits: string | undefined, sign: string | undefined) => {
		if (digits === undefined) return CONTROLS[sign ?? ""] ?? sign ?? written;
		const character = String.fromCharCode(Number.parseInt(digits, 16));
		return character < "\u0100" ? Buffer.from(character).toString("latin1") : character;
	});
}

function encodeText(text: string): string {
	return text.replaceAll(TO_ESCAPE, (character) =>
		character < "\u0100" ? JSON.stringify(character).slice(1, -1) : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}
