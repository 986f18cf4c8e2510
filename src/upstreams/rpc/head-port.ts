/**
 * The final block of each chain, as its upstreams report it. The tracker stores it. The cache stores and returns only
 * answers that it still proves.
 */

/** An immutable value: a change creates another one. */
export interface RpcFinality {
	/**
	 * The number of the highest final block. -1 if no block is final any more, because the chain turned out to be another
	 * one.
	 */
	readonly block: number;
	/**
	 * Names of the upstreams that have reported this block or a later one, by any tag. Other upstreams may be behind, and
	 * one that is behind answers `[]` for the logs of blocks that it has not seen.
	 */
	readonly upstreams: ReadonlySet<string>;
}

export interface RpcHeads {
	/**
	 * Returns the finality. null: no upstream reports it, or the last report is too old. It goes back if an upstream
	 * reports so.
	 */
	finality(network: string): RpcFinality | null;
	/**
	 * Calls the listener at every change, in the turn in which `finality` changes. Returns a function that removes it.
	 */
	onFinality(listener: (network: string, finality: RpcFinality | null) => void): () => void;
}
