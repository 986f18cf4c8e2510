/**
 * What the crypto RPC knows of networks and methods before anything is configured. The data stands in
 * `catalog/rpc/`; nothing of it can be overridden, networks can only be switched off.
 */

/** A method of one machine never reaches a network of another. */
export type RpcVm = "evm" | "starknet" | "solana";

export interface RpcNetwork {
	readonly slug: string;
	/** `ethereum`, `polygon`, ...: a mainnet and its testnets. */
	readonly family: string;
	readonly vm: RpcVm;
	readonly kind: "mainnet" | "testnet";
	/** What eth_chainId or starknet_chainId must answer, as hex text without leading zeros; null: not known, so not checked. */
	readonly chainIdHex: string | null;
	/** Credits of a method with multiplier 1. */
	readonly baseCredits: number;
}

/** How many times the network's base credits a call costs. */
export type RpcMultiplier = 1 | 2 | 4;

/**
 * Where a call names the block that it reads: a parameter by position (and, where parameters can be given by name, by
 * name), or a member of an object that is that parameter.
 */
export interface RpcBlockArgument {
	readonly position: number;
	/** Of the parameter, where the protocol allows parameters by name. */
	readonly name: string | null;
	/** The members of the object that count, such as fromBlock and toBlock; null: the parameter itself is the block. */
	readonly members: readonly string[] | null;
}

/** For how long the answer to a call stays true. Nulls and errors are never kept, whatever the rule. */
export type RpcCacheRule =
	/** Never: it is another answer each time, or it changes something. */
	| { readonly kind: "never" }
	/** For good, or for some time, whatever the chain does: a chain id, a pure function. */
	| { readonly kind: "constant"; readonly maxAgeSeconds: number | null }
	/** Until the chain has a new block. */
	| { readonly kind: "until-new-block" }
	/** For good where all blocks that the call names (`blocks`) stand by number, at or below the finalized one. */
	| { readonly kind: "by-block" }
	/**
	 * For good once the block of the thing found is finalized: its number is this member of the result (of its first
	 * element, where it is a list). null: the result does not tell, so it is not kept.
	 */
	| { readonly kind: "by-hash"; readonly blockNumberAt: string | null };

/** What an upstream must be able to do, where the operator named what it can. */
export type RpcCapability = "trace" | "debug" | "txpool" | "bundler";

export interface RpcMethod {
	readonly name: string;
	readonly vm: RpcVm;
	readonly multiplier: RpcMultiplier;
	/**
	 * Broadcasts something, so it is audited, never shared, never cached, never sent twice without need.
	 * `raw-transaction`: the first parameter is a signed transaction and the result its hash (eth_sendRawTransaction).
	 */
	readonly send: "raw-transaction" | "other" | null;
	/** Of a send: the member of the result that is the hash; null: the result itself is. */
	readonly sendHashAt: string | null;
	readonly cache: RpcCacheRule;
	/** Where a call names the blocks that it reads: also tells whether it needs an archive. Empty: nowhere. */
	readonly blocks: readonly RpcBlockArgument[];
	/** trace_*, debug_*, arbtrace_* and the like: the longer time limit. */
	readonly slow: boolean;
	/** null: any upstream can. Archive depth follows from the call's block argument, not from the method. */
	readonly capability: RpcCapability | null;
	/** The families whose nodes have the method; null: all. Elsewhere it is forwarded, and the node says that it has it not. */
	readonly families: readonly string[] | null;
}

export type RpcRefusalReason =
	| "websocket_only"
	| "stateful_filter"
	| "key_or_miner"
	| "not_allowlisted"
	/** The method is of another machine than the network. */
	| "wrong_family";

export interface RpcRefusal {
	readonly reason: RpcRefusalReason;
	/** A sentence for the caller. */
	readonly text: string;
	/** What to do in its place, where there is something. */
	readonly hint: string | null;
}

/** What a name stands for. */
export type RpcResolution = { readonly method: RpcMethod } | { readonly refusal: RpcRefusal };

export interface RpcCatalog {
	/** The networks that are there unless they are switched off, by slug, sorted. */
	readonly networks: ReadonlyMap<string, RpcNetwork>;
	/** Networks that are there only where they are switched on. */
	/** Other names of families. */
	readonly familyAliases: ReadonlyMap<string, string>;
	readonly optionalNetworks: ReadonlyMap<string, RpcNetwork>;
	/** The method of this name, or why it is refused. Names are case-sensitive. */
	resolve(name: string): RpcResolution;
}
