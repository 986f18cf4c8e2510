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
	/** By how much this thread's monotonic clock is ahead of the event loop's, at most; null: the two are the same. */
	#aheadMs: number | null = null;
	readonly #aligned = Promise.withResolvers<void>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/**
	 * Aligns the clock of a thread, which begins with the thread, with the event loop's. Call it as soon as a message
	 * of the loop arrives. Its delay counts as past, so no instant is later than it was. The message with the shortest
	 * delay stands: one that waited while modules were loaded, or while the process was stopped, does no lasting harm.
	 *
	 * @param loopMs the loop's monotonic clock when it sent the message, in milliseconds
	 */
	align(loopMs: number): void {
		this.#aheadMs = Math.min(this.#aheadMs ?? Number.POSITIVE_INFINITY, this.#clock.monotonicMs() - loopMs);
		this.#aligned.resolve();
	}

	/** Is fulfilled by the first alignment. */
	get aligned(): Promise<void> {
		return this.#aligned.promise;
	}

	instant(): Instant {
		return { monotonicMs: this.#clock.monotonicMs() - (this.#aheadMs ?? 0), wallMs: this.#clock.wallMs() };
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
