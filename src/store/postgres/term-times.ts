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

export const DEFAULT_TERM_MS = 30_000;

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

/** Each thread has a monotonic clock that begins with it: by how much this one is ahead of the event loop's. */
let aheadMs = 0;

/**
 * Lets `instant` in this thread tell the event loop's time. `loopMs` is what the loop's clock showed when it sent its
 * message: the way here counts as past, so an instant of this thread is never told too late.
 */
export function alignWith(loopMs: number): void {
	aheadMs = performance.now() - loopMs;
}

export function instant(): Instant {
	return { monotonicMs: performance.now() - aheadMs, wallMs: Date.now() };
}

/** Milliseconds since then, by the clock that says more; a wall clock that was set back counts for nothing. */
export function since(then: Instant): number {
	const now = instant();
	return Math.max(now.monotonicMs - then.monotonicMs, now.wallMs - then.wallMs);
}
