/** The exchange of nodes, through the store, about requests and tokens of a minute. */

/** Length of a window, from its first request. */
export const MINUTE_MS = 60_000;

/** A node's request for a share of one (account, subject) in the current window. */
export interface MinuteTake {
	readonly accountId: string;
	readonly subject: string;
	/** Requests per minute over all nodes. */
	readonly limit: number;
	/** Requests that wait on the node. */
	readonly requested: number;
	/** Requests that the node admitted alone while the store was unreachable: counted whatever the limit. */
	readonly spent: number;
}

/**
 * Tokens that a node counted since its last report, in the window that began at that time. Below 0 where estimates
 * were too high.
 */
export interface MinuteSum {
	readonly accountId: string;
	readonly subject: string;
	readonly startedAtMs: number;
	readonly tokens: number;
}

export interface MinuteExchange {
	readonly takes: readonly MinuteTake[];
	readonly sums: readonly MinuteSum[];
}

/** The window after a take. */
export interface MinuteGrant {
	/** Requests that the node may admit: those that wait, and some for later, within the limit. */
	readonly granted: number;
	/** Requests of all nodes, including those granted now. */
	readonly taken: number;
	/** Tokens of all nodes. */
	readonly tokens: number;
	/** Start by the store's clock, in Unix milliseconds; it identifies the window. */
	readonly startedAtMs: number;
	/** Time until the window ended, when the store answered. */
	readonly endsInMs: number;
}

/** Answers in the order of the inputs; null where the store has no such window (any more). */
export interface MinuteAnswer {
	readonly takes: readonly (MinuteGrant | null)[];
	/** Tokens of all nodes. */
	readonly sums: readonly (number | null)[];
}

/**
 * Shares minute windows between nodes. Rejects where the store is unreachable: then nothing, or everything, was
 * counted.
 */
export interface SharedMinutes {
	exchange(exchange: MinuteExchange): Promise<MinuteAnswer>;
}
