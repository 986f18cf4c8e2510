import { CREDIT_BUCKET_MS, creditBucket } from "../store/core/rpc-records.ts";

const DAY_MS = 86_400_000;

/**
 * Credits of one account in buckets of 5 minutes. A bucket counts until its end is 24 hours old, so that no 24 hours
 * have more than what is counted. Older buckets are kept for another day: a clock that was set back finds them again.
 */
export class DayCredits {
	readonly #buckets = new Map<number, number>();
	/** The first bucket that counts, and the sum of all buckets from it. */
	#floor = Number.NEGATIVE_INFINITY;
	#sum = 0;

	/**
	 * Returns the credits of the last 24 hours, and those of future buckets, which were counted before a clock was set
	 * back.
	 */
	used(nowMs: number): number {
		this.#moveTo(nowMs);
		return this.#sum;
	}

	add(atMs: number, credits: number): void {
		this.setBucket(creditBucket(atMs), (this.#buckets.get(creditBucket(atMs)) ?? 0) + credits);
	}

	/** Sets one bucket. */
	setBucket(bucket: number, credits: number): void {
		if (bucket >= this.#floor) this.#sum += credits - (this.#buckets.get(bucket) ?? 0);
		this.#buckets.set(bucket, credits);
	}

	/** Returns when the oldest counted bucket expires, in Unix milliseconds; null if none counts. */
	firstExpiryMs(nowMs: number): number | null {
		this.#moveTo(nowMs);
		const oldest = this.#countedBuckets().at(0);
		return oldest === undefined ? null : bucketExpiryMs(oldest);
	}

	/** Returns when that many credits have expired, in Unix milliseconds; if there are fewer, when all have. */
	expiryOfCreditsMs(nowMs: number, credits: number): number {
		this.#moveTo(nowMs);
		let at = nowMs;
		let expiredCredits = 0;
		for (const bucket of this.#countedBuckets()) {
			if (expiredCredits >= credits) break;
			expiredCredits += this.#buckets.get(bucket) ?? 0;
			at = bucketExpiryMs(bucket);
		}
		return at;
	}

	/** Returns counted buckets in order of time, without empty ones. */
	#countedBuckets(): number[] {
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

/** Returns the oldest bucket whose end is less than 24 hours old. */
export function firstCounted(nowMs: number): number {
	return Math.floor((nowMs - DAY_MS) / CREDIT_BUCKET_MS);
}

function bucketExpiryMs(bucket: number): number {
	return (bucket + 1) * CREDIT_BUCKET_MS + DAY_MS;
}
