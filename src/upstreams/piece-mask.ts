/** Replaces what a pattern matches in bytes that come in pieces, so that a match may lie across two of them. */
export class PieceMask {
	readonly #pattern: RegExp;
	readonly #replace: (...match: readonly unknown[]) => string;
	readonly #longest: number;
	/** May be the beginning of a match. Byte for byte: pieces need not be whole UTF-8. */
	#rest = "";

	/** @param longest bytes that no match is longer than */
	constructor(pattern: RegExp, replace: (...match: readonly unknown[]) => string, longest: number) {
		this.#pattern = pattern;
		this.#replace = replace;
		this.#longest = longest;
	}

	/** What is certain after this piece. */
	take(piece: Uint8Array): Uint8Array {
		const whole = this.#rest + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
		// A match that begins before this place is here to its end.
		let cut = Math.max(0, whole.length - this.#longest);
		for (const { 0: text, index } of whole.matchAll(this.#pattern)) {
			if (index >= cut) break;
			cut = Math.max(cut, index + text.length);
		}
		this.#rest = whole.slice(cut);
		return this.#replaced(whole.slice(0, cut));
	}

	/** What is left. */
	end(): Uint8Array {
		return this.#replaced(this.#rest);
	}

	#replaced(latin1: string): Uint8Array {
		return Buffer.from(latin1.replaceAll(this.#pattern, this.#replace), "latin1");
	}
}
