/** Random numbers from a seed: the same seed gives the same numbers on every machine (xoshiro128**). */
export class Random {
	#a: number;
	#b: number;
	#c: number;
	#d: number;

	constructor(seed: number) {
		// splitmix32 spreads a small seed over the whole state.
		let state = seed >>> 0;
		const next = (): number => {
			state = (state + 0x9e3779b9) >>> 0;
			let mixed = state;
			mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
			mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
			return (mixed ^ (mixed >>> 15)) >>> 0;
		};
		this.#a = next();
		this.#b = next();
		this.#c = next();
		this.#d = next() | 1;
	}

	/** A source of its own for one part of a run, so that a change in one part does not change what another draws. */
	fork(): Random {
		return new Random(this.#next());
	}

	/** 0 <= number < 1. */
	unit(): number {
		return this.#next() / 0x1_0000_0000;
	}

	between(low: number, high: number): number {
		return low + (high - low) * this.unit();
	}

	/** 0 <= integer < below. */
	integer(below: number): number {
		return Math.floor(this.unit() * below);
	}

	chance(probability: number): boolean {
		return this.unit() < probability;
	}

	/** Exponential with this mean: times between arrivals, and how long work takes. */
	exponential(mean: number): number {
		return -mean * Math.log(1 - this.unit());
	}

	#next(): number {
		const result = Math.imul(rotated(Math.imul(this.#b, 5), 7), 9) >>> 0;
		const shifted = this.#b << 9;
		this.#c ^= this.#a;
		this.#d ^= this.#b;
		this.#b ^= this.#c;
		this.#a ^= this.#d;
		this.#c ^= shifted;
		this.#d = rotated(this.#d, 11);
		return result;
	}
}

function rotated(word: number, by: number): number {
	return (word << by) | (word >>> (32 - by));
}
