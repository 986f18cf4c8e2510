/** Counts values by upper bounds: two additions and a short search per value, and fixed memory. */
export class Histogram {
	/** Ascending; a value belongs to the first bound that is not below it. */
	readonly bounds: readonly number[];
	/** One count for each bound, and a last one for larger values. The counts are not cumulated. */
	readonly counts: Float64Array;
	#sum = 0;
	#count = 0;

	constructor(bounds: readonly number[]) {
		this.bounds = bounds;
		this.counts = new Float64Array(bounds.length + 1);
	}

	get sum(): number {
		return this.#sum;
	}

	get count(): number {
		return this.#count;
	}

	add(value: number): void {
		const { bounds, counts } = this;
		let index = 0;
		while (index < bounds.length && value > (bounds[index] ?? 0)) index++;
		counts[index] = (counts[index] ?? 0) + 1;
		this.#sum += value;
		this.#count++;
	}
}

/** Seconds of a request or of a call to another server: from answers out of memory to long streams. */
export const CALL_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;

/** Seconds of a write to a disk. */
export const DISK_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const;
