/** A limit in bytes that several copies share. */
export class SharedBytes {
	#bytes: number;
	#used = 0;

	constructor(bytes: number) {
		this.#bytes = bytes;
	}

	resize(bytes: number): void {
		this.#bytes = bytes;
	}

	take(bytes: number): boolean {
		if (this.#used + bytes > this.#bytes) return false;
		this.#used += bytes;
		return true;
	}

	release(bytes: number): void {
		this.#used -= bytes;
	}
}

/** A copy of a value that passes in pieces. It is dropped if it is too large or no memory is left for it. */
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
		// The reader may overwrite the bytes that it received.
		this.#pieces.push(new Uint8Array(piece));
	}

	/** Returns the whole copy, once; null if it was dropped. */
	take(): Uint8Array | null {
		const whole = this.#pieces === null ? null : Buffer.concat(this.#pieces, this.#length);
		this.drop();
		return whole;
	}

	drop(): void {
		if (this.#pieces === null) return;
		this.#pieces = null;
		this.#budget.release(this.#length);
	}
}
