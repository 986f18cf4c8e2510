import type { Clock } from "../../telemetry/clock.ts";

/** The times of a node's term; all in milliseconds. */
export interface TermTimes {
	/** How long the store keeps a node's leases after its last heartbeat. */
	readonly termMs: number;
	/** How often the term is renewed. */
	readonly beatEveryMs: number;
	/** How long after the sending of its last good heartbeat a node still spends. */
	readonly spendForMs: number;
	/** How long past its term a node is reaped. */
	readonly reapAfterMs: number;
}

const DEFAULT_TERM_MS = 30_000;

/** The other times in their proportion to the term: at 30 s they are 8, 20 and 10 s. */
export function termTimes(termMs = DEFAULT_TERM_MS): TermTimes {
	return {
		termMs,
		beatEveryMs: Math.floor((termMs * 4) / 15),
		spendForMs: Math.floor((termMs * 2) / 3),
		reapAfterMs: Math.floor(termMs / 3),
	};
}

/** An instant by both clocks: the wall clock goes on while a machine sleeps, the monotonic one is never set back. */
export interface Instant {
	readonly monotonicMs: number;
	readonly wallMs: number;
}

/** Tells instants of the event loop's time, on the loop and in the store thread alike. */
export class TermClock {
	readonly #clock: Clock;
	/** By how much this thread's monotonic clock, which begins with the thread, is ahead of the event loop's. */
	readonly #aheadMs: number;

	constructor(clock: Clock, aheadMs = 0) {
		this.#clock = clock;
		this.#aheadMs = aheadMs;
	}

	/**
	 * The clock of a thread. `loopMs` is what the loop's monotonic clock showed when it sent its message: the way here
	 * counts as past, so an instant of the thread is never told too late.
	 */
	static alignedWith(loopMs: number, clock: Clock): TermClock {
		return new TermClock(clock, clock.monotonic() - loopMs);
	}

	instant(): Instant {
		return { monotonicMs: this.#clock.monotonic() - this.#aheadMs, wallMs: this.#clock.now() };
	}

	monotonicMs(): number {
		return this.instant().monotonicMs;
	}

	/** Milliseconds since then, by the clock that says more; a wall clock that was set back counts for nothing. */
	since(then: Instant): number {
		const now = this.instant();
		return Math.max(now.monotonicMs - then.monotonicMs, now.wallMs - then.wallMs);
	}
}
