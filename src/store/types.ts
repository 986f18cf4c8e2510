/** What the store holds for the node and is asked for: accounts, keys, budgets, leases, limits, changes. */
import type { MoneySource } from "../journal/records.ts";
import type { Nano } from "../ledger/nano.ts";

export type AccountTier = "paid" | "partner" | "staff";
export type KeyType = "ADMIN" | "INFERENCE";
export type LimitPeriod = "EPOCH" | "MONTH" | "LIFETIME";

export interface Account {
	/** Opaque id: `acc_` + 24 base62 characters. */
	readonly id: string;
	readonly name: string;
	readonly tier: AccountTier;
	readonly disabled: boolean;
	/** True for the operator's own account: the first one created on a store. */
	readonly operator: boolean;
	/** Linked wallet, lower case, or null. */
	readonly wallet: string | null;
	/**
	 * Identity of a wallet that pays with a balance of its own: `eip155:8453:<address>`, `solana:<address>`. Otherwise
	 * null.
	 */
	readonly identity: string | null;
	readonly createdAtMs: number;
}

/** Consumption limits as entered: decimal text, or null for no cap. "0" switches a currency off. */
export interface KeyLimits {
	readonly usd: string | null;
	readonly diem: string | null;
	readonly vcu: string | null;
}

export interface KeyRestrictions {
	readonly models: readonly string[] | null;
	readonly endpoints: readonly string[] | null;
	readonly networks: readonly string[] | null;
	readonly addresses: readonly string[] | null;
}

export interface ApiKey {
	/** UUID v4. */
	readonly id: string;
	readonly accountId: string;
	readonly type: KeyType;
	readonly last6: string;
	readonly description: string;
	readonly limits: KeyLimits;
	readonly limitPeriod: LimitPeriod;
	readonly restrictions: KeyRestrictions | null;
	readonly createdAtMs: number;
	readonly expiresAtMs: number | null;
	readonly lastUsedAtMs: number | null;
}

/** What a key has spent in its current window; usd includes bundled credit. */
export interface KeySpent {
	readonly usd: Nano;
	readonly diem: Nano;
}

export interface KeyLoad {
	readonly key: ApiKey;
	readonly account: Account;
	/** Spent in the window that contains `day`; zero for keys without a limit. */
	readonly spent: KeySpent;
}

/** Money of one account: `balance` is everything not yet spent, `free` the part that no node has leased. */
export interface BudgetState {
	readonly source: MoneySource;
	/** UTC day number for diem, 0 for the other sources. */
	readonly day: number;
	readonly balance: Nano;
	readonly free: Nano;
}

/** One grant of an acquire: the amount by which this node's lease on the budget grew. */
export interface Grant {
	readonly source: MoneySource;
	readonly day: number;
	readonly granted: Nano;
}

export interface AcquireRequest {
	readonly accountId: string;
	/** UTC day of the admission, which is the diem epoch; its allotment is written at first use. */
	readonly day: number;
	/** What the request lacks, over all sources together. */
	readonly needNano: Nano;
	/**
	 * True to grant what exists where that is less than the need. Otherwise the need is met in full, or nothing is
	 * granted for it.
	 */
	readonly part?: boolean;
	/** Left out: the request may use any amount of any source. */
	readonly usable?: UsableMoney;
	/**
	 * Where the limits of the request's key are leased too: the store computes need and usable money from it under
	 * lock.
	 */
	readonly cap?: CapRequest;
}

/** Amounts against the limits of a key in nano-USD; `usd` includes bundled credit. */
export interface CapAmounts {
	readonly usd: number;
	readonly diem: number;
}

/** What a request needs of its key's limits, in the window of its day. Only for limited keys on a shared store. */
export interface CapRequest {
	readonly keyId: string;
	/** The whole need of the request, over all sources together. */
	readonly amount: number;
	/** Free money of the account on the node. */
	readonly money: CapAmounts;
	/** The node's lease of the limits, less what its holds take; below 0 where they have no lease. */
	readonly headroom: CapAmounts;
}

/** What an acquire granted of a key's limits. */
export interface CapAnswer {
	readonly granted: CapAmounts;
	/** Spent in the window by all nodes, as applied. */
	readonly spent: CapAmounts;
	/** Leased to other nodes in the window. */
	readonly elsewhere: CapAmounts;
	/** True where the need was not met because of the limits: the money exists. */
	readonly short: boolean;
}

/** The part of a key's limits that a node retains for requests of a day. */
export interface RetainedCap extends CapAmounts {
	readonly keyId: string;
	readonly day: number;
}

/**
 * The most that a request can use beyond the free money of its node, by the caps of its key. In nano-USD, or
 * Infinity.
 */
export interface UsableMoney {
	readonly diem: number;
	/** Includes bundled credit. */
	readonly usd: number;
}

export interface AcquireResult {
	readonly grants: readonly Grant[];
	/** Totals of the account after the grant. */
	readonly budgets: readonly BudgetState[];
	/**
	 * Set where the need was not met, and other nodes were asked to return what they do not use: another try soon may
	 * succeed.
	 */
	readonly recalled?: true;
	/** Present where limits of the request's key were requested too. */
	readonly cap?: CapAnswer;
}

/** A change in the store by another process or node. Cached objects must be read again. */
export type StoreChange =
	/** `takesBack`: the operator wants money of the account back; for a moment nodes lease no more than they need. */
	| { readonly kind: "account"; readonly accountId: string; readonly takesBack?: true }
	| { readonly kind: "key"; readonly keyId: string; readonly accountId: string; readonly hash: string }
	| { readonly kind: "reload" }
	/** Running servers log from this level on, until another change or a new read of their configuration. */
	| { readonly kind: "log-level"; readonly level: string }
	/** Another node lacks money of the account: nodes return what no hold needs. The account itself did not change. */
	| { readonly kind: "recall"; readonly accountId: string }
	/** Another server has become the store's primary. It may lack the last changes, so all cached objects are read again. */
	| { readonly kind: "store-moved" }
	/** The store ended this node's leases because it was silent for too long: none of them may be spent any more. */
	| { readonly kind: "leases-ended" };

/** The limit that refused a request. */
export type ExceededLimitKind = "RPD" | "RPM" | "TPM" | "FAILED_REQUESTS" | "UNSUPPORTED_FEATURE_REQUESTS";
