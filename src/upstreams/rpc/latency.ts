/** Each bucket is a sixth larger than the one before: from 0.1 ms to minutes. */
const RATIO = 7 / 6;
const LEAST_MS = 0.1;
const BUCKETS = 96;
/** Past this many samples all counts are halved, so that old ones weigh less. */
const FULL = 1_024;
/** Minimum number of samples for a quantile. */
const ENOUGH = 20;
const QUANTILE = 0.97;
const LOG_RATIO = Math.log(RATIO);

/** A moving quantile of how long calls of one kind take. */
export class LatencyQuantile {
	readonly #counts = new Float64Array(BUCKETS);
	#total = 0;
	#quantileMs: number | null = null;
	#untilNext = ENOUGH;

	add(elapsedMs: number): void {
		const bucket = elapsedMs <= LEAST_MS ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(elapsedMs / LEAST_MS) / LOG_RATIO));
		this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
		this.#total++;
		if (--this.#untilNext > 0) return;
		this.#untilNext = 16;
		if (this.#total > FULL) this.#halve();
		this.#quantileMs = this.#find();
	}

	/** Returns the time within which 97 of 100 calls end, in milliseconds; null if it is not known yet. */
	get quantileMs(): number | null {
		return this.#quantileMs;
	}

	#find(): number {
		let left = this.#total * (1 - QUANTILE);
		for (let bucket = BUCKETS - 1; bucket > 0; bucket--) {
			left -= this.#counts[bucket] ?? 0;
			if (left < 0) return LEAST_MS * RATIO ** bucket;
		}
		return LEAST_MS;
	}

	#halve(): void {
		this.#total = 0;
		for (let bucket = 0; bucket < BUCKETS; bucket++) {
			const half = (this.#counts[bucket] ?? 0) / 2;
			this.#counts[bucket] = half;
			this.#total += half;
		}
	}
}

/** The budget of second attempts for slow reads: a percentage of reads, and a small burst. */
export class HedgeBudget {
	static readonly #BURST = 10;
	#share: number;
	#left = HedgeBudget.#BURST;

	constructor(percent: number) {
		this.#share = percent / 100;
	}

	get isOff(): boolean {
		return this.#share === 0;
	}

	set percent(percent: number) {
		this.#share = percent / 100;
	}

	/** Adds to the budget. Called when a read begins. */
	earn(): void {
		this.#left = Math.min(HedgeBudget.#BURST, this.#left + this.#share);
	}

	/** Takes one attempt from the budget. Returns false if none is left. */
	spend(): boolean {
		if (this.#share === 0 || this.#left < 1) return false;
		this.#left--;
		return true;
	}
}
