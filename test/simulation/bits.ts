/** A set of small whole numbers, a bit each. */
export class Bits {
	#bytes = new Uint8Array(1 << 12);

	has(number: number): boolean {
		return ((this.#bytes[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
	}

	set(number: number, member: boolean): void {
		const index = number >> 3;
		if (index >= this.#bytes.length) {
			const larger = new Uint8Array(Math.max(index + 1, this.#bytes.length * 2));
			larger.set(this.#bytes);
			this.#bytes = larger;
		}
		const byte = this.#bytes[index] ?? 0;
		this.#bytes[index] = member ? byte | (1 << (number & 7)) : byte & ~(1 << (number & 7));
	}
}
