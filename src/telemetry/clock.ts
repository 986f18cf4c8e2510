/** The two clocks of the program, handed to whatever needs the time, so that tests can set it. */
export interface Clock {
	/** Wall clock: Unix milliseconds. Decides days, windows and expiry. May step. */
	now(): number;
	/** Milliseconds that only grow, from an arbitrary start. Decides how long something took or still has to wait. */
	monotonic(): number;
}

export const systemClock: Clock = {
	now: () => Date.now(),
	monotonic: () => performance.now(),
};

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
	#nowMs: number;
	#monotonicMs = 0;

	/** @param nowMs Unix milliseconds, or an ISO 8601 instant */
	constructor(nowMs: number | string) {
		this.#nowMs = typeof nowMs === "string" ? Date.parse(nowMs) : nowMs;
	}

	now(): number {
		return this.#nowMs;
	}

	monotonic(): number {
		return this.#monotonicMs;
	}

	/** Lets time pass on both clocks. */
	advance(ms: number): void {
		this.#nowMs += ms;
		this.#monotonicMs += ms;
	}

	/** Sets the wall clock alone, as a time server does. */
	setWall(nowMs: number | string): void {
		this.#nowMs = typeof nowMs === "string" ? Date.parse(nowMs) : nowMs;
	}
}
