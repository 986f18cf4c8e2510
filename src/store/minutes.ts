/** What nodes tell each other, through the store, of the requests and tokens of a minute. */

/** A window lasts so long from its first request. */
export const MINUTE_MS = 60_000;

/** A wish for requests of one (account, subject) in the window that is open now. */
export interface MinuteTake {
	readonly accountId: string;
	readonly subject: string;
	/** Requests per minute over all nodes. */
	readonly limit: number;
	/** Requests that wait on the node. */
	readonly wanted: number;
	/** Requests that the node let through by itself while the store was away: counted whatever the limit. */
	readonly spent: number;
}

/** Tokens that a node counted since it told last, in the window that began then. Below 0 where estimates were too high. */
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
	/** Requests that the node may let through: what waits, and what it may need next, as far as the limit goes. */
	readonly granted: number;
	/** Requests of all nodes, those granted now among them. */
	readonly taken: number;
	/** Tokens of all nodes. */
	readonly tokens: number;
	/** By the store's clock, Unix milliseconds: names the window. */
	readonly startedAtMs: number;
	/** Until the window ends, when the store looked. */
	readonly endsInMs: number;
}

/** In the order of what was asked; null where the store has no such window (any more). */
export interface MinuteAnswer {
	readonly takes: readonly (MinuteGrant | null)[];
	/** Tokens of all nodes. */
	readonly sums: readonly (number | null)[];
}

/** Where nodes share their minute windows. Rejects where the store cannot be asked: nothing, or all of it, was counted then. */
export interface SharedMinutes {
	exchange(exchange: MinuteExchange): Promise<MinuteAnswer>;
}
