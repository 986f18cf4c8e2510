/**
 * The networks and methods of the crypto RPC, independent of configuration. The data is in `catalog/rpc/`; it cannot be
 * overridden, but networks can be switched off.
 */

/** The virtual machine of a network. A method of one machine is never sent to a network of another. */
export type RpcVm = "evm" | "starknet" | "solana";

export interface RpcNetwork {
	readonly slug: string;
	/** `ethereum`, `polygon`, ...: a mainnet and its testnets. */
	readonly family: string;
	readonly vm: RpcVm;
	readonly kind: "mainnet" | "testnet";
	/**
	 * The expected answer of eth_chainId or starknet_chainId, as hex text without leading zeros; null: not known, so not checked.
	 */
	readonly chainIdHex: string | null;
	/** Credits of a method with multiplier 1. */
	readonly baseCredits: number;
}

/** The factor on the network's base credits that a call costs. */
export type RpcMultiplier = 1 | 2 | 4;

/**
 * The argument of a call that names the block to read: a parameter by position (and by name, if the protocol has named
 * parameters), or a member of an object in that position.
 */
export interface RpcBlockArgument {
	readonly position: number;
	/** The parameter's name, if the protocol has named parameters. */
	readonly name: string | null;
	/** The object members that name blocks, such as fromBlock and toBlock; null: the parameter itself is the block. */
	readonly members: readonly string[] | null;
}

/** How long an answer stays valid. Nulls and errors are never cached, whatever the rule. */
export type RpcCacheRule =
	/** Never cached: each answer is different, or the call changes something. */
	| { readonly kind: "never" }
	/** Cached forever or for some time, whatever the chain does: a chain id, a pure function. */
	| { readonly kind: "constant"; readonly maxAgeSeconds: number | null }
	/** Cached until the chain has a new block. */
	| { readonly kind: "until-new-block" }
	/** Cached forever if all blocks that the call names (`blocks`) are numbers at or below the finalized one. */
	| { readonly kind: "by-block" }
	/**
	 * Cached forever once the block of the result is finalized. This member of the result (of its first element, if it is a list)
	 * has the block's number; null: the result has none, so it is not cached.
	 */
	| { readonly kind: "by-hash"; readonly blockNumberAt: string | null };

/** What an upstream must support, if the operator listed its capabilities. */
export type RpcCapability = "trace" | "debug" | "txpool" | "bundler";

export interface RpcMethod {
	readonly name: string;
	readonly vm: RpcVm;
	readonly multiplier: RpcMultiplier;
	/**
	 * Broadcasts something: it is audited, never shared, never cached, never repeated without need. `raw-transaction`: the first
	 * parameter is a signed transaction and the result its hash (eth_sendRawTransaction).
	 */
	readonly send: "raw-transaction" | "other" | null;
	/** For a send: the member of the result that is the hash; null: the result itself is the hash. */
	readonly sendHashAt: string | null;
	readonly cache: RpcCacheRule;
	/** The params that name the blocks that a call reads, which also decides whether it needs an archive. Empty: none. */
	readonly blocks: readonly RpcBlockArgument[];
	/** trace_*, debug_*, arbtrace_* and similar methods have the longer time limit. */
	readonly slow: boolean;
	/** null: every upstream supports it. Archive depth follows from the call's block argument, not from the method. */
	readonly capability: RpcCapability | null;
	/**
	 * The families whose nodes have the method; null: all. For other families the call is forwarded, and the node reports the
	 * missing method.
	 */
	readonly families: readonly string[] | null;
}

export type RpcRefusalReason =
	| "websocket_only"
	| "stateful_filter"
	| "key_or_miner"
	| "not_allowlisted"
	/** The method belongs to another virtual machine than the network. */
	| "wrong_family";

export interface RpcRefusal {
	readonly reason: RpcRefusalReason;
	/** A sentence for the caller. */
	readonly text: string;
	/** An alternative for the caller, if there is one. */
	readonly hint: string | null;
}

/** The meaning of a name. */
export type RpcResolution = { readonly method: RpcMethod } | { readonly refusal: RpcRefusal };

export interface RpcCatalog {
	/** The networks that are on by default, by slug, sorted. */
	readonly networks: ReadonlyMap<string, RpcNetwork>;
	/** Aliases of families. */
	readonly familyAliases: ReadonlyMap<string, string>;
	/** The networks that are off by default. */
	readonly optionalNetworks: ReadonlyMap<string, RpcNetwork>;
	/** Returns the method of this name, or why it is refused. Names are case-sensitive. */
	resolve(name: string): RpcResolution;
}
