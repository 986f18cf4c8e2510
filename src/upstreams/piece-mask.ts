/** Replaces what a pattern matches in a text that comes in pieces, so that a match may lie across two of them. */
export class PieceMask {
	readonly #pattern: RegExp;
	readonly #replace: (...match: readonly unknown[]) => string;
	readonly #longest: number;
	/** May be the beginning of a match. */
	#rest = "";

	/** @param longest characters that no match is longer than */
	constructor(pattern: RegExp, replace: (...match: readonly unknown[]) => string, longest: number) {
		this.#pattern = pattern;
		this.#replace = replace;
		this.#longest = longest;
	}

	/** What is certain after this piece. */
	take(piece: string): string {
		const whole = this.#rest + piece;
		// A match that begins before this place is here to its end.
		let cut = Math.max(0, whole.length - this.#longest);
		if (cut > 0)
			for (const { 0: text, index } of whole.matchAll(this.#pattern)) {
				if (index >= cut) break;
				cut = Math.max(cut, index + text.length);
			}
		this.#rest = whole.slice(cut);
		return this.#replaced(whole.slice(0, cut));
	}

	/** What is left; the next piece begins another text. */
	end(): string {
		const last = this.#replaced(this.#rest);
		this.#rest = "";
		return last;
	}

	#replaced(text: string): string {
		return text === "" ? text : text.replaceAll(this.#pattern, this.#replace);
	}
}
