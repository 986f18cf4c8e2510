/**
 * What is final on each chain, as its upstreams tell. The tracker keeps it; the cache keeps no answer that this does not
 * prove, and gives none out that this does not prove any more.
 */

/** Never changed once it is made: another one takes its place. */
export interface RpcFinality {
	/** The highest block that is final, by number; -1 where none is any more, since the chain turned out to be another one. */
	readonly block: number;
	/**
	 * Names of the upstreams that have themselves told to have this block or a later one, by any tag. Of the others it is
	 * not known: one that is behind answers `[]` for the logs of blocks that it has not seen.
	 */
	readonly upstreams: ReadonlySet<string>;
}

export interface RpcHeads {
	/** null: not known; no upstream tells it, or the last who did is too long ago. It goes back where an upstream says so. */
	finality(network: string): RpcFinality | null;
	/** Told at every change, in the turn in which `finality` changes. Returns what ends it. */
	onFinality(listener: (network: string, finality: RpcFinality | null) => void): () => void;
}
