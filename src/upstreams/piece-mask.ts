/** Replaces the matches of a pattern in a text that arrives in pieces, even across two of them. */
export class PieceMask {
	readonly #pattern: RegExp;
	readonly #replace: (...match: readonly unknown[]) => string;
	readonly #longest: number;
	/** Text that may begin a match. */
	#rest = "";

	/** @param longest maximum length of a match in characters */
	constructor(pattern: RegExp, replace: (...match: readonly unknown[]) => string, longest: number) {
		this.#pattern = pattern;
		this.#replace = replace;
		this.#longest = longest;
	}

	/** Adds a piece, and returns the text that is certain. */
	take(piece: string): string {
		const whole = this.#rest + piece;
		// A match that begins before this place is complete here.
		let cut = Math.max(0, whole.length - this.#longest);
		if (cut > 0)
			for (const { 0: text, index } of whole.matchAll(this.#pattern)) {
				if (index >= cut) break;
				cut = Math.max(cut, index + text.length);
			}
		this.#rest = whole.slice(cut);
		return this.#mask(whole.slice(0, cut));
	}

	/** Returns the rest; the next piece begins another text. */
	end(): string {
		const last = this.#mask(this.#rest);
		this.#rest = "";
		return last;
	}

	#mask(text: string): string {
		return text === "" ? text : text.replaceAll(this.#pattern, this.#replace);
	}
}
