/** A bound in bytes that several share. */
export class SharedBytes {
	#bytes: number;
	#taken = 0;

	constructor(bytes: number) {
		this.#bytes = bytes;
	}

	resize(bytes: number): void {
		this.#bytes = bytes;
	}

	take(bytes: number): boolean {
		if (this.#taken + bytes > this.#bytes) return false;
		this.#taken += bytes;
		return true;
	}

	give(bytes: number): void {
		this.#taken -= bytes;
	}
}

/** A copy of what passes in pieces, given up where it is too much or there is no room for it. */
export class StreamCopy {
	readonly #budget: SharedBytes;
	readonly #maxBytes: number;
	#pieces: Uint8Array[] | null = [];
	#length = 0;

	constructor(budget: SharedBytes, maxBytes: number) {
		this.#budget = budget;
		this.#maxBytes = maxBytes;
	}

	add(piece: Uint8Array): void {
		if (this.#pieces === null) return;
		if (this.#length + piece.length > this.#maxBytes || !this.#budget.take(piece.length)) {
			this.drop();
			return;
		}
		this.#length += piece.length;
		// The reader may write over what it was given.
		this.#pieces.push(new Uint8Array(piece));
	}

	/** The whole, once; null where it was given up. */
	take(): Uint8Array | null {
		const whole = this.#pieces === null ? null : Buffer.concat(this.#pieces, this.#length);
		this.drop();
		return whole;
	}

	drop(): void {
		if (this.#pieces === null) return;
		this.#pieces = null;
		this.#budget.give(this.#length);
	}
}
