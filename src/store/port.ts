/**
 * The interface between node and store. On SQLite the store thread answers it; PostgreSQL is behind the same
 * interface. Every call is ordered after the application of all journal groups up to the sequence that was written
 * when the call was made. A call ends the group that its turn has gathered so far: its answer includes every post
 * made before the call, and none made after it.
 */
import type { MoneySource } from "../journal/records.ts";
import type { Nano } from "../ledger/nano.ts";
import type { AdminAnswer, AdminInput, AdminOperation } from "./admin/operations.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "./idempotency.ts";
import type { SharedMinutes } from "./minutes.ts";
import type { Account, AcquireRequest, AcquireResult, BudgetState, KeyLoad, RetainedCap, StoreChange } from "./types.ts";

export type { AdminAnswer, AdminInput, AdminOperation } from "./admin/operations.ts";
export type * from "./minutes.ts";
export type * from "./types.ts";

export interface StorePort {
	/** This node's id and current epoch. */
	readonly node: { readonly id: string; readonly epoch: number };
	/** Present where nodes share their minute windows. Its calls wait for no other call. */
	readonly minutes?: SharedMinutes | undefined;
	/**
	 * Reads a key by the lower-case hex sha256 of its text, or a wallet by its name (wallet-callers.ts); null where it
	 * is unknown.
	 */
	loadKey(hash: string, day: number): Promise<KeyLoad | "revoked" | null>;
	loadAccount(accountId: string): Promise<Account | null>;
	/**
	 * Leases money to this node, in one transaction. The one node of a store gets everything that is free. The diem
	 * allotment of (account, day) is written at first use.
	 */
	acquire(request: AcquireRequest): Promise<AcquireResult>;
	/** Returns totals without leasing anything. */
	budgets(accountId: string, day: number): Promise<readonly BudgetState[]>;
	/**
	 * Returns all leases of this node on one account (a change notice), except for `retained` per source. With `caps` it
	 * also returns those of its keys' limits, except for these.
	 */
	giveBack(
		accountId: string,
		retained: readonly { source: MoneySource; day: number; amount: Nano }[],
		caps?: readonly RetainedCap[],
	): Promise<AcquireResult>;
	/** PostgreSQL holds large bodies of stored answers itself; beside SQLite they are files in the data folder. */
	readonly kind: "sqlite" | "postgres";
	/** True where other nodes may use the store: those of a PostgreSQL, or the workers of this machine. */
	readonly shared: boolean;
	/**
	 * Returns what is stored under idempotency keys, in the order of the claims. On a shared store a claim that is
	 * `fresh` or `unknown` blocks other nodes until its answer is applied, it is released, or this node's epoch ends.
	 * Rejects as `admin` does; claims may then exist all the same, so release them.
	 */
	idempotency(batch: IdempotencyBatch): Promise<readonly StoredClaim[]>;
	/**
	 * Returns the credits that posts used, by account and bucket: those of all nodes, and of this one up to this call.
	 */
	rpcCredits(question: CreditQuery): Promise<readonly CreditBucket[]>;
	/**
	 * Runs an operation of `admin/operations.ts` off the event loop, in the order of all calls. Listeners of `onChange`
	 * are notified before it resolves. Rejects with `AdminError` where the operation refuses, and with
	 * `StoreUnavailableError` where the store cannot be written now.
	 */
	admin<Name extends AdminOperation>(name: Name, input: AdminInput<Name>): Promise<AdminAnswer<Name>>;
	/** Registers a listener for each change, in order. Returns the function that removes it. */
	onChange(listener: (change: StoreChange) => void): () => void;
	/** Resolves when everything written before the call is applied. */
	settled(): Promise<void>;
	/** Applies the rest of the journal, returns all leases, writes a checkpoint and closes. */
	close(): Promise<void>;
}
