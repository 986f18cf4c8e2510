/** `up`: in use. `out`: ejected. `trial`: a probe was good; one request at a time until one succeeds. */
export type HealthState = "up" | "out" | "trial";

const MAX_BACKOFF = 12;
/** Small requests may be paid for while larger ones are refused: so long the last refusal stands. */
const ACCOUNT_REFUSAL_MS = 15 * 60_000;

/**
 * What real traffic and probes tell of one upstream. Consecutive faults put it out; a good probe lets it back
 * on trial, where one fault is enough to put it out again, for twice as long; a success makes it whole.
 */
export class Health {
	#state: HealthState = "up";
	#faults = 0;
	#relapses = 0;
	#busyUntilMs = Number.NEGATIVE_INFINITY;
	#lastFault: string | null = null;
	#ejections = 0;
	#accountRefusal: { readonly detail: string; readonly atMs: number } | null = null;

	get state(): HealthState {
		return this.#state;
	}

	get faults(): number {
		return this.#faults;
	}

	get lastFault(): string | null {
		return this.#lastFault;
	}

	/** How often it was put out. */
	get ejections(): number {
		return this.#ejections;
	}

	/** How many probe periods to wait before the next probe. */
	get backoff(): number {
		return Math.min(2 ** this.#relapses, MAX_BACKOFF);
	}

	/** It refused our key, credit or quota. */
	accountRefused(detail: string, atMs: number): void {
		this.#accountRefusal = { detail, atMs };
	}

	/** What it said when it last refused our account; null where that is a while ago. */
	accountRefusal(nowMs: number): string | null {
		const last = this.#accountRefusal;
		return last !== null && nowMs - last.atMs < ACCOUNT_REFUSAL_MS ? last.detail : null;
	}

	/** It asked for a pause (429): others go first until then. */
	busyUntil(atMs: number): void {
		this.#busyUntilMs = Math.max(this.#busyUntilMs, atMs);
	}

	isBusy(nowMs: number): boolean {
		return nowMs < this.#busyUntilMs;
	}

	reportSuccess(): void {
		this.#state = "up";
		this.#faults = 0;
		this.#relapses = 0;
		this.#busyUntilMs = Number.NEGATIVE_INFINITY;
	}

	/** `failures`: consecutive faults that eject. True where this fault puts it out. */
	reportFault(detail: string, failures: number): boolean {
		this.#faults++;
		this.#lastFault = detail;
		if (this.#state === "out" || (this.#state === "up" && this.#faults < failures)) return false;
		if (this.#state === "trial") this.#relapses++;
		this.#state = "out";
		this.#ejections++;
		return true;
	}

	reportProbe(alive: boolean): void {
		if (this.#state === "out" && alive) this.#state = "trial";
	}
}
