import { BACKSLASH } from "../wire/index.ts";

type Replace = (...match: readonly unknown[]) => string;

/**
 * Replaces secrets in bytes that arrive in pieces. Pieces without one pass unchanged, except for an end that may begin
 * a secret, which waits for the next piece.
 */
export class PieceSecrets {
	readonly #secrets: readonly Buffer[];
	readonly #pattern: RegExp;
	readonly #replace: Replace;
	readonly #longest: number;
	#rest: Uint8Array = new Uint8Array(0);

	/**
	 * @param spellings of the secrets, without escapes of characters
	 * @param pattern finds them in any spelling, in bytes as characters
	 */
	constructor(spellings: readonly string[], pattern: RegExp, replace: Replace) {
		this.#secrets = spellings.map((secret) => Buffer.from(secret));
		this.#pattern = pattern;
		this.#replace = replace;
		this.#longest = 6 * Math.max(...this.#secrets.map(({ length }) => length));
	}

	/** Adds a piece, and returns the bytes that are certain. */
	take(piece: Uint8Array): Uint8Array {
		const whole = this.#rest.length === 0 ? asBuffer(piece) : Buffer.concat([this.#rest, piece]);
		if (!this.#suspects(whole)) {
			const cut = whole.length - this.#beginning(whole);
			// The rest is copied, since the reader of the piece may free its memory.
			this.#rest = Uint8Array.from(whole.subarray(cut));
			return cut === whole.length && this.#isSame(whole, piece) ? piece : whole.subarray(0, cut);
		}
		const text = whole.toString("latin1");
		let cut = Math.max(0, text.length - this.#longest);
		for (const { 0: secret, index } of text.matchAll(this.#pattern)) {
			if (index >= cut) break;
			cut = Math.max(cut, index + secret.length);
		}
		this.#rest = Uint8Array.from(whole.subarray(cut));
		return this.#mask(text.slice(0, cut));
	}

	/** Returns the rest. */
	end(): Uint8Array {
		const last = asBuffer(this.#rest);
		this.#rest = new Uint8Array(0);
		return this.#suspects(last) ? this.#mask(last.toString("latin1")) : last;
	}

	#isSame(whole: Buffer, piece: Uint8Array): boolean {
		return whole.buffer === piece.buffer && whole.length === piece.length;
	}

	#mask(text: string): Uint8Array {
		return Buffer.from(text.replaceAll(this.#pattern, this.#replace), "latin1");
	}

	#suspects(bytes: Buffer): boolean {
		return this.#secrets.some((secret) => bytes.includes(secret)) || bytes.includes("\\u");
	}

	/** Returns how many of the last bytes may begin a secret, whose next character may be an escape. */
	#beginning(bytes: Buffer): number {
		let run = 0;
		while (bytes[bytes.length - 1 - run] === BACKSLASH) run++;
		const isEscape = run % 2 === 1;
		return isEscape ? Math.max(1 + this.#likeSecret(bytes.subarray(0, -1)), this.#likeSecret(bytes)) : this.#likeSecret(bytes);
	}

	#likeSecret(bytes: Buffer): number {
		let longest = 0;
		for (const secret of this.#secrets)
			for (let length = Math.min(secret.length - 1, bytes.length); length > longest; length--)
				if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) longest = length;
		return longest;
	}
}

function asBuffer(bytes: Uint8Array): Buffer {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
