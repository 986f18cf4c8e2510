/**
 * What a node's store thread asks of the books that several nodes share. `On` is what a question is asked on: a
 * connection to PostgreSQL; in the simulation of many nodes, the way to a store in memory that keeps the same rules.
 * Each call is one transaction. All throw `FencedError` and trouble of the store (`faults.ts`).
 */
import type { ReadGroup } from "../../journal/index.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "../idempotency.ts";
import type { MinuteAnswer, MinuteExchange } from "../minutes.ts";
import type { Account, AcquireRequest, AcquireResult, BudgetState, KeyLoad, StoreChange } from "../port.ts";
import type { ReturnRequest } from "../thread-protocol.ts";
import type { NodeEpoch } from "./batch-applier.ts";
import type { Heartbeat, StoredEpoch } from "./epochs.ts";

export interface SharedStore<On> {
	/** See `epochs.ts`. */
	latestEpoch(on: On, nodeId: string): Promise<StoredEpoch>;
	isKnownEpoch(on: On, boot: StoredEpoch): Promise<number>;
	startEpoch(on: On, before: StoredEpoch, termMs: number): Promise<StoredEpoch>;
	endEpoch(on: On, node: NodeEpoch): Promise<void>;
	heartbeat(on: On, node: NodeEpoch, termMs: number): Promise<Heartbeat>;
	reap(on: On, afterMs: number): Promise<number>;
	/** See `caller-reader.ts`. */
	readKey(on: On, hash: string, day: number): Promise<KeyLoad | null>;
	readAccount(on: On, accountId: string): Promise<Account | null>;
	/** See `batch-applier.ts`. */
	applier(node: NodeEpoch): SharedApplier<On>;
	/** See `lease-repository.ts`. */
	leases(node: NodeEpoch): SharedLeases<On>;
	/** See `rpc-repository.ts`. */
	rpc(node: NodeEpoch): SharedRpc<On>;
	/** Changes from now on; see `change-feed.ts`. */
	changes(on: On): Promise<{ poll(on: On): Promise<StoreChange[]> }>;
	/** Tells the other nodes that money of these accounts is wanted back. */
	recallLeases(on: On, nodeId: string, accountIds: readonly string[]): Promise<void>;
}

export interface SharedApplier<On> {
	apply(on: On, groups: readonly ReadGroup[]): Promise<number>;
}

/** What a node asks about its leases on one account. */
export type LeaseRequest =
	| { readonly name: "acquire"; readonly arguments: AcquireRequest }
	| { readonly name: "giveBack"; readonly arguments: ReturnRequest };

export interface SharedLeases<On> {
	/** One transaction for all of them, each about another account; the answers are in the order of `asks`. */
	execute(on: On, asks: readonly LeaseRequest[], liveNodes: number): Promise<AcquireResult[]>;
	budgets(on: On, accountId: string, day: number): Promise<readonly BudgetState[]>;
}

export interface SharedRpc<On> {
	idempotency(on: On, trip: IdempotencyBatch): Promise<readonly StoredClaim[]>;
	credits(on: On, question: CreditQuery): Promise<readonly CreditBucket[]>;
}

/** The way to the shared books. */
export interface SharedConnection<On> {
	/** Work that ends within `silenceMs`, one way or the other. Throws `StoreSilentError`, and what the work throws. */
	run<T>(silenceMs: number, work: (on: On) => Promise<T>): Promise<T>;
	close(): Promise<void>;
}

/** Where a node hears of changes (`changed`) and of recalls, as the store tells them. Notices can be lost. */
export interface ChangeListener {
	listen(changed: () => void, recalled: (recall: Recall) => void): Promise<void>;
	close(): Promise<void>;
}

/** Where minute windows are exchanged. Throws what the store throws: the node then counts alone. */
export interface MinuteExchanger {
	exchange(exchange: MinuteExchange): Promise<MinuteAnswer>;
	close(): Promise<void>;
}

/** A node asks the others for idle money of an account. */
export interface Recall {
	readonly nodeId: string;
	readonly accountId: string;
}
