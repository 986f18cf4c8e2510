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

/** The same in every thread of the process. */
export function instant(): Instant {
	return { monotonicMs: Number(process.hrtime.bigint()) / 1e6, wallMs: Date.now() };
}

/** Milliseconds since then, by the clock that says more; a wall clock that was set back counts for nothing. */
export function since(then: Instant): number {
	const now = instant();
	return Math.max(now.monotonicMs - then.monotonicMs, now.wallMs - then.wallMs);
}
