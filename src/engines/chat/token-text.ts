/** A character of UTF-8 takes at most four bytes, hence at most four tokens of one byte. */
const MAX_OPEN_TOKENS = 4;
const REPLACEMENT = "\uFFFD";

/**
 * Decodes text from single tokens. A token may end inside a character: it waits for the next ones, so that no partial character
 * is sent.
 */
export class TokenText<Token> {
	readonly #detokenize: (tokens: Token[]) => string;
	#open: Token[] = [];

	constructor(detokenize: (tokens: Token[]) => string) {
		this.#detokenize = detokenize;
	}

	push(token: Token): string {
		this.#open.push(token);
		const text = this.#detokenize(this.#open);
		if (text.endsWith(REPLACEMENT) && this.#open.length < MAX_OPEN_TOKENS) return "";
		this.#open = [];
		return text;
	}

	/** Returns the rest at the end, with a partial character as U+FFFD. */
	end(): string {
		const text = this.#open.length === 0 ? "" : this.#detokenize(this.#open);
		this.#open = [];
		return text;
	}
}
