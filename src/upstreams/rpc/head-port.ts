/**
 * How far each chain is, as its upstreams tell. The tracker keeps it; the cache reads it, and keeps no answer that this
 * does not prove.
 */

export interface RpcHead {
	readonly number: number;
	/** Lower-case hex text. */
	readonly hash: string;
}

export interface RpcHeads {
	/**
	 * The highest block that is final, by number; null: not known (no upstream tells, or what they tell is too old to
	 * be relied on). It goes back where an upstream says so.
	 */
	finalized(network: string): number | null;
	/**
	 * The newest block that this upstream itself has told to have (any tag); null: not known. An upstream that is behind
	 * answers `[]` for logs that it has not seen yet: what it says of blocks beyond its own is not kept.
	 */
	reached(network: string, upstream: string): number | null;
	/** Told at every change of `finalized`, in the turn in which it changes. Returns what ends it. */
	onFinalized(listener: (network: string, finalized: number | null) => void): () => void;
}
