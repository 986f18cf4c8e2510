const FIRST_MS = 60_000;
const LONGEST_MS = 3_600_000;
const MAX_METHODS = 256;

interface LearnedLimit {
	untilMs: number;
	forMs: number;
}

/**
 * Learned limits of a server: methods that it lacks, and the longest batch that it accepts. Each limit expires, later
 * each time it is learned again. A success removes it at once.
 */
export class LearnedLimits {
	readonly #methods = new Map<string, LearnedLimit>();
	#batch: { readonly max: number; readonly untilMs: number } | null = null;

	/** Records that the server does not have this method. */
	onMethodMissing(method: string, nowMs: number): void {
		const before = this.#methods.get(method);
		const forMs = before === undefined ? FIRST_MS : Math.min(before.forMs * 2, LONGEST_MS);
		this.#methods.delete(method);
		this.#methods.set(method, { untilMs: nowMs + forMs, forMs });
		// Callers choose names under a known prefix, so the number of stored names is limited. The oldest is removed.
		const oldest = this.#methods.size > MAX_METHODS ? this.#methods.keys().next().value : undefined;
		if (oldest !== undefined) this.#methods.delete(oldest);
	}

	/** Records that the server answered this method. */
	onMethodAnswered(method: string): void {
		if (this.#methods.size > 0) this.#methods.delete(method);
	}

	lacksMethod(method: string, nowMs: number): boolean {
		if (this.#methods.size === 0) return false;
		const limit = this.#methods.get(method);
		return limit !== undefined && nowMs < limit.untilMs;
	}

	/** Records that the server accepts no array of more than `max` items. At 1 it accepts none at all. */
	onBatchTooLong(max: number, nowMs: number): void {
		this.#batch = { max, untilMs: nowMs + LONGEST_MS / 6 };
	}

	/** Returns the maximum number of items of an array. */
	batchMax(nowMs: number): number {
		return this.#batch !== null && nowMs < this.#batch.untilMs ? this.#batch.max : Number.POSITIVE_INFINITY;
	}
}
