/**
 * What the node asks of the store. One node on SQLite answers it from the store thread; PostgreSQL later
 * changes what is behind this interface only. Every call is ordered after the application of all journal
 * groups up to the sequence that was written when the call was made: an answer holds exactly the posts up to
 * that sequence, and no later one. A call ends the group that its turn has gathered so far: every post made
 * before the call is in the answer, none made after it is.
 */
import type { MoneySource } from "../journal/records.ts";
import type { Nano } from "../ledger/nano.ts";
import type { AdminAnswer, AdminInput, AdminOperation } from "./admin/operations.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "./idempotency.ts";
import type { SharedMinutes } from "./minutes.ts";

export type { AdminAnswer, AdminInput, AdminOperation } from "./admin/operations.ts";
export type * from "./minutes.ts";

export type AccountTier = "paid" | "partner" | "staff";
export type KeyType = "ADMIN" | "INFERENCE";
export type LimitPeriod = "EPOCH" | "MONTH" | "LIFETIME";

export interface Account {
	/** Opaque id: `acc_` + 24 base62 characters. */
	readonly id: string;
	readonly name: string;
	readonly tier: AccountTier;
	readonly disabled: boolean;
	/** The operator's own account: the first one made on a store. */
	readonly operator: boolean;
	/** Linked wallet, lower case, or null. */
	readonly wallet: string | null;
	/** Of a wallet that pays with a balance of its own: `eip155:8453:<address>`, `solana:<address>`. Else null. */
	readonly identity: string | null;
	readonly createdAtMs: number;
}

/** Consumption limits as they were entered: decimal text, or null for no cap. "0" switches a currency off. */
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

/** What a key has spent in its current window: usd covers bundled + usd. */
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

/** One grant of an acquire: this node's lease on the budget grew by `granted`. */
export interface Grant {
	readonly source: MoneySource;
	readonly day: number;
	readonly granted: Nano;
}

export interface AcquireRequest {
	readonly accountId: string;
	/** UTC day of the admission: the diem epoch asked for; its allotment is written at first use. */
	readonly day: number;
	/** What the request that asks lacks, over all sources together. */
	readonly needNano: Nano;
	/** Give what there is where that is less than the need; otherwise the need is met or nothing is given for it. */
	readonly part?: boolean;
	/** Left out: the request may use any amount of any source. */
	readonly usable?: UsableMoney;
	/** Where the limits of the request's key are leased, too: need and usable money are worked out from it under lock. */
	readonly cap?: CapRequest;
}

/** Amounts against the limits of a key, nano-USD: bundled credit and USD together are `usd`. */
export interface CapAmounts {
	readonly usd: number;
	readonly diem: number;
}

/** What a request needs of its key's limits, in the window of its day. Only on a shared store, of a key that has some. */
export interface CapRequest {
	readonly keyId: string;
	/** All that the request needs, over all sources together. */
	readonly amount: number;
	/** Money of the account that is free on the node. */
	readonly money: CapAmounts;
	/** What of the limits is leased to the node, less what its holds take; below 0 where they have no lease. */
	readonly room: CapAmounts;
}

/** What an acquire brought of a key's limits. */
export interface CapAnswer {
	readonly granted: CapAmounts;
	/** Booked in the window, by all nodes. */
	readonly spent: CapAmounts;
	/** Leased to other nodes in the window. */
	readonly elsewhere: CapAmounts;
	/** The need was not met, and the limits stand in its way: the money is there. */
	readonly short: boolean;
}

/** What a node keeps of a key's limits for requests of a day. */
export interface RetainedCap extends CapAmounts {
	readonly keyId: string;
	readonly day: number;
}

/** The most that a request can use beyond what is free on its node, by the caps of its key. Nano-USD, or Infinity. */
export interface UsableMoney {
	readonly diem: number;
	/** Bundled credit and USD together. */
	readonly usd: number;
}

export interface AcquireResult {
	readonly grants: readonly Grant[];
	/** Totals of the account after the grant. */
	readonly budgets: readonly BudgetState[];
	/** The need was not met, and other nodes were asked to give back what they do not use: asking again soon may help. */
	readonly recalled?: true;
	/** Where the limits of the request's key were asked for, too. */
	readonly cap?: CapAnswer;
}

/** What changed in the store behind this node's back (a command line, another node). Cached objects are read again. */
export type StoreChange =
	/** `takesBack`: money of the account is wanted back; for a moment nodes lease no more than they need. */
	| { readonly kind: "account"; readonly accountId: string; readonly takesBack?: true }
	| { readonly kind: "key"; readonly keyId: string; readonly accountId: string; readonly hash: string }
	| { readonly kind: "reload" }
	/** Running servers log from this level on, until they are told another or read their configuration again. */
	| { readonly kind: "log-level"; readonly level: string }
	/** Another node lacks money of the account: what no hold needs goes back. Nothing of the account changed. */
	| { readonly kind: "recall"; readonly accountId: string }
	/** The store ended this node's leases (it was silent for too long): nothing of them may be spent any more. */
	| { readonly kind: "leases-ended" };

export interface StorePort {
	/** This node's id and epoch now. */
	readonly node: { readonly id: string; readonly epoch: number };
	/** Where nodes share their minute windows; left out where there is one node. Its calls wait for no other call. */
	readonly minutes?: SharedMinutes | undefined;
	/** Reads a key by the lower-case hex sha256 of its text, or a wallet by its name (wallet-callers.ts); null where there is none or it was revoked. */
	loadKey(hash: string, day: number): Promise<KeyLoad | null>;
	loadAccount(accountId: string): Promise<Account | null>;
	/**
	 * Leases money to this node, in one transaction. On SQLite the one node gets all that is free; the diem
	 * allotment of (account, day) is written here at first use.
	 */
	acquire(request: AcquireRequest): Promise<AcquireResult>;
	/** Totals without leasing anything. */
	budgets(accountId: string, day: number): Promise<readonly BudgetState[]>;
	/**
	 * Gives back all leases of this node on one account (a change notice) after subtracting `kept` per source; with `caps`
	 * also those of its keys' limits, but for these.
	 */
	giveBack(
		accountId: string,
		kept: readonly { source: MoneySource; day: number; amount: Nano }[],
		caps?: readonly RetainedCap[],
	): Promise<AcquireResult>;
	/** True where other nodes may work on the store. */
	readonly shared: boolean;
	/**
	 * What is kept under idempotency keys, a claim's answer in its place. On a shared store a claim that is `fresh` or
	 * `unknown` keeps other nodes out until its answer is applied, it is released, or this node's epoch ends. Rejects as
	 * `admin` does; the claims may stand then: release them.
	 */
	idempotency(trip: IdempotencyBatch): Promise<readonly StoredClaim[]>;
	/** Credits that posts used, by account and bucket: those of all nodes, and of this one up to this call. */
	rpcCredits(question: CreditQuery): Promise<readonly CreditBucket[]>;
	/**
	 * Runs an operation of `admin/operations.ts` off the event loop, in the order of all calls. What it changed has
	 * been told to the listeners of `onChange` when it resolves. Rejects with `AdminError` where the operation
	 * refuses, `StoreUnavailableError` where the store cannot be written now.
	 */
	admin<Name extends AdminOperation>(name: Name, input: AdminInput<Name>): Promise<AdminAnswer<Name>>;
	/** Called with each change, in order. Returns the way to stop listening. */
	onChange(listener: (change: StoreChange) => void): () => void;
	/** Resolves when everything that was written when it was called is applied. */
	settled(): Promise<void>;
	/** Applies the rest of the journal, returns all leases, checkpoints, closes. */
	close(): Promise<void>;
}
