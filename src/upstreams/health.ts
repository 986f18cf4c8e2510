/** `up`: in use. `out`: ejected. `trial`: a probe was good; one request at a time until one succeeds. */
export type HealthState = "up" | "out" | "trial";

const MAX_BACKOFF = 12;
/** Time for which a refusal of our account is shown: small requests may succeed while larger ones are refused. */
const ACCOUNT_REFUSAL_MS = 15 * 60_000;

/**
 * The health of one upstream by real traffic and probes. Consecutive faults eject it. A good probe puts it on trial,
 * where one fault ejects it again for twice as long; a success restores it.
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

	/** Number of ejections. */
	get ejections(): number {
		return this.#ejections;
	}

	/** Number of probe periods before the next probe. */
	get backoff(): number {
		return Math.min(2 ** this.#relapses, MAX_BACKOFF);
	}

	/** Records that it refused our key, credit or quota. */
	accountRefused(detail: string, atMs: number): void {
		this.#accountRefusal = { detail, atMs };
	}

	/** Returns its message when it last refused our account; null if that was long ago. */
	accountRefusal(nowMs: number): string | null {
		const last = this.#accountRefusal;
		return last !== null && nowMs - last.atMs < ACCOUNT_REFUSAL_MS ? last.detail : null;
	}

	/** Records the pause that it requested (429): others are preferred until then. */
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

	/**
	 * Records a fault; returns true if it ejects the upstream.
	 * @param failures number of consecutive faults that eject
	 */
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
