/** The two clocks of the program. They are parameters, so that tests can set them. */
export interface Clock {
	/** Wall clock: Unix milliseconds. Decides days, spending windows of keys, and expiry. May step. */
	wallMs(): number;
	/** Milliseconds that only grow, from an arbitrary start. Decides how long something took or still has to wait. */
	monotonicMs(): number;
}

export const systemClock: Clock = {
	wallMs: () => Date.now(),
	monotonicMs: () => performance.now(),
};

/** Schedules later work. It is a parameter, so that a test or a simulation can control time. */
export interface Timers {
	/** Runs `action` once after `delayMs`; the returned function cancels it. */
	after(delayMs: number, action: () => void): () => void;
}

export const systemTimers: Timers = {
	after(delayMs, action) {
		const timer = setTimeout(action, delayMs);
		return () => clearTimeout(timer);
	},
};

/** Runs `action` repeatedly, `everyMs` after the start of its last run; the returned function ends it. */
export function every(timers: Timers, everyMs: number, action: () => void): () => void {
	let cancel = timers.after(everyMs, function run(): void {
		cancel = timers.after(everyMs, run);
		action();
	});
	return () => cancel();
}

export function sleep(timers: Timers, ms: number): Promise<void> {
	return new Promise((resolve) => void timers.after(ms, resolve));
}

/** A clock that moves only by `advance` and `setWall`. */
export class ManualClock implements Clock {
	#nowMs: number;
	#monotonicMs = 0;

	/** @param nowMs Unix milliseconds, or an ISO 8601 instant */
	constructor(nowMs: number | string) {
		this.#nowMs = typeof nowMs === "string" ? Date.parse(nowMs) : nowMs;
	}

	wallMs(): number {
		return this.#nowMs;
	}

	monotonicMs(): number {
		return this.#monotonicMs;
	}

	/** Advances both clocks. */
	advance(ms: number): void {
		this.#nowMs += ms;
		this.#monotonicMs += ms;
	}

	/** Sets only the wall clock, as a time server does. */
	setWall(nowMs: number | string): void {
		this.#nowMs = typeof nowMs === "string" ? Date.parse(nowMs) : nowMs;
	}
}
