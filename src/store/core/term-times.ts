import type { Clock } from "../../telemetry/clock.ts";

/** The times of a node's term; all in milliseconds. */
export interface TermTimes {
	/** How long the store keeps a node's leases after its last heartbeat. */
	readonly termMs: number;
	/** Interval of the heartbeats. */
	readonly beatEveryMs: number;
	/** How long a node still spends after sending its last successful heartbeat. */
	readonly spendForMs: number;
	/** How long past its term a node is reaped. */
	readonly reapAfterMs: number;
}

const DEFAULT_TERM_MS = 30_000;

/** Returns the other times in proportion to the term: at 30 s they are 8, 20 and 10 s. */
export function termTimes(termMs = DEFAULT_TERM_MS): TermTimes {
	return {
		termMs,
		beatEveryMs: Math.floor((termMs * 4) / 15),
		spendForMs: Math.floor((termMs * 2) / 3),
		reapAfterMs: Math.floor(termMs / 3),
	};
}

/** An instant by both clocks: the wall clock continues while a machine sleeps, the monotonic one is never set back. */
export interface Instant {
	readonly monotonicMs: number;
	readonly wallMs: number;
}

/** Makes instants of the event loop's time, on the loop and in the store thread alike. */
export class TermClock {
	readonly #clock: Clock;
	/** The most by which this thread's monotonic clock is ahead of the event loop's; null: the two are the same. */
	#aheadMs: number | null = null;
	readonly #aligned = Promise.withResolvers<void>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/**
	 * Aligns a thread's clock, which starts with the thread, with the event loop's. Call it as soon as a message of the
	 * loop arrives. The message's delay counts as past, so that no instant is later than it was. The message with the
	 * shortest delay is used: one that waited while modules were loaded, or while the process was stopped, has no
	 * lasting effect.
	 *
	 * @param loopMs the loop's monotonic clock when it sent the message, in milliseconds
	 */
	align(loopMs: number): void {
		this.#aheadMs = Math.min(this.#aheadMs ?? Number.POSITIVE_INFINITY, this.#clock.monotonicMs() - loopMs);
		this.#aligned.resolve();
	}

	/** Resolves at the first alignment. */
	get aligned(): Promise<void> {
		return this.#aligned.promise;
	}

	instant(): Instant {
		return { monotonicMs: this.#clock.monotonicMs() - (this.#aheadMs ?? 0), wallMs: this.#clock.wallMs() };
	}

	monotonicMs(): number {
		return this.instant().monotonicMs;
	}

	/** Returns the milliseconds since then, by the clock that shows more; a wall clock that was set back is ignored. */
	since(then: Instant): number {
		const now = this.instant();
		return Math.max(now.monotonicMs - then.monotonicMs, now.wallMs - then.wallMs);
	}
}
