import { CREDIT_BUCKET_MS, creditBucket } from "../store/rpc-records.ts";

const DAY_MS = 86_400_000;

/**
 * Credits of one account in buckets of 5 minutes. A bucket counts until its end is 24 hours old, so that no 24 hours have
 * more than what is counted. What is older is kept for another day: a clock that was set back finds it again.
 */
export class DayCredits {
	readonly #buckets = new Map<number, number>();
	/** The first bucket that counts, and the sum from it on. */
	#floor = Number.NEGATIVE_INFINITY;
	#sum = 0;

	/** Credits of the last 24 hours, and those of a time to come, which a clock that was set back had counted. */
	used(nowMs: number): number {
		this.#moveTo(nowMs);
		return this.#sum;
	}

	add(atMs: number, credits: number): void {
		this.put(creditBucket(atMs), (this.#buckets.get(creditBucket(atMs)) ?? 0) + credits);
	}

	/** Sets one bucket. */
	put(bucket: number, credits: number): void {
		if (bucket >= this.#floor) this.#sum += credits - (this.#buckets.get(bucket) ?? 0);
		this.#buckets.set(bucket, credits);
	}

	/** When the oldest bucket that counts leaves, in Unix milliseconds; null where none counts. */
	firstLeaves(nowMs: number): number | null {
		this.#moveTo(nowMs);
		const oldest = this.#live().at(0);
		return oldest === undefined ? null : leaves(oldest);
	}

	/** When so many credits have left, in Unix milliseconds; where there are not so many, when all have. */
	haveLeft(nowMs: number, credits: number): number {
		this.#moveTo(nowMs);
		let at = nowMs;
		let gone = 0;
		for (const bucket of this.#live()) {
			if (gone >= credits) break;
			gone += this.#buckets.get(bucket) ?? 0;
			at = leaves(bucket);
		}
		return at;
	}

	/** In the order of time; buckets without credits left out. */
	#live(): number[] {
		const live = [...this.#buckets].filter(([bucket, credits]) => bucket >= this.#floor && credits > 0);
		return live.map(([bucket]) => bucket).sort((a, b) => a - b);
	}

	#moveTo(nowMs: number): void {
		const floor = firstCounted(nowMs);
		if (floor === this.#floor) return;
		this.#floor = floor;
		this.#sum = 0;
		const forgotten = floor - DAY_MS / CREDIT_BUCKET_MS;
		for (const [bucket, credits] of this.#buckets) {
			if (bucket < forgotten) this.#buckets.delete(bucket);
			else if (bucket >= floor) this.#sum += credits;
		}
	}
}

/** The oldest bucket whose end is less than 24 hours old. */
export function firstCounted(nowMs: number): number {
	return Math.floor((nowMs - DAY_MS) / CREDIT_BUCKET_MS);
}

function leaves(bucket: number): number {
	return (bucket + 1) * CREDIT_BUCKET_MS + DAY_MS;
}
