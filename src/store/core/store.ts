/**
 * The interface of the store thread to its books. `On` is what a call runs on: a SQLite database, a
 * connection to PostgreSQL or, in the simulation of many nodes, an in-memory store with the same rules. Each call is
 * one transaction. All throw `FencedError` and trouble of the store (`faults.ts`).
 */
import type { ReadGroup } from "../../journal/index.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "../idempotency.ts";
import type { MinuteAnswer, MinuteExchange } from "../minutes.ts";
import type { ReturnRequest } from "../thread-protocol.ts";
import type { Account, AcquireRequest, AcquireResult, BudgetState, KeyLoad, StoreChange } from "../types.ts";
import type { NodeEpoch } from "./batch-applier.ts";

/** A boot of a node, and how far its journal is applied. */
export interface StoredEpoch extends NodeEpoch {
	readonly appliedSeq: number;
}

export interface Store<On> {
	/** Returns the node's latest boot; epoch 0, which never existed, where the store does not know the node. */
	latestEpoch(on: On, nodeId: string): Promise<StoredEpoch>;
	/** Returns how far the store has this boot. Where a failover lost the boot itself, it is written again. */
	isKnownEpoch(on: On, boot: StoredEpoch): Promise<number>;
	/**
	 * Begins the next boot after `before` and frees the leases of every earlier one of the node, which are fenced where
	 * they have a term of `termMs`.
	 */
	startEpoch(on: On, before: StoredEpoch, termMs: number): Promise<StoredEpoch>;
	/** Ends this boot and frees its leases. */
	endEpoch(on: On, node: NodeEpoch): Promise<void>;
	/** See `caller-reader.ts`. */
	readKey(on: On, hash: string, day: number): Promise<KeyLoad | "revoked" | null>;
	readAccount(on: On, accountId: string): Promise<Account | null>;
	/** See `batch-applier.ts`. */
	applier(node: NodeEpoch): StoreApplier<On>;
	/** See `lease-repository.ts`. */
	leases(node: NodeEpoch): StoreLeases<On>;
	/** See `rpc-repository.ts`. */
	rpc(node: NodeEpoch): StoreRpc<On>;
}

/** A store that several nodes share: their leases live for a term. */
export interface SharedStore<On> extends Store<On> {
	/** Renews the node's term. */
	heartbeat(on: On, node: NodeEpoch, termMs: number): Promise<Heartbeat>;
	/** Ends the boots whose term ended `afterMs` ago. Returns their number. */
	reap(on: On, afterMs: number): Promise<number>;
	/** Returns changes from now on; see `change-feed.ts`. */
	changes(on: On): Promise<{ poll(on: On): Promise<StoreChange[]> }>;
	/** Notifies the other nodes that a node needs money of these accounts back. */
	recallLeases(on: On, nodeId: string, accountIds: readonly string[]): Promise<void>;
}

export interface StoreApplier<On> {
	apply(on: On, groups: readonly ReadGroup[]): Promise<number>;
}

/** A node's lease call on one account. */
export type LeaseRequest =
	| { readonly name: "acquire"; readonly arguments: AcquireRequest }
	| { readonly name: "giveBack"; readonly arguments: ReturnRequest };

export interface StoreLeases<On> {
	/** Runs all of them in one transaction, each on another account; the answers are in the order of `requests`. */
	execute(on: On, requests: readonly LeaseRequest[], liveNodes: number): Promise<AcquireResult[]>;
	budgets(on: On, accountId: string, day: number): Promise<readonly BudgetState[]>;
}

export interface StoreRpc<On> {
	idempotency(on: On, batch: IdempotencyBatch): Promise<readonly StoredClaim[]>;
	credits(on: On, question: CreditQuery): Promise<readonly CreditBucket[]>;
}

export interface Heartbeat {
	/** Number of live nodes, including this one. */
	readonly live: number;
	/** How far the store has applied this boot's journal. */
	readonly appliedSeq: number;
}

/** The connection to the books. */
export interface StoreLink<On> {
	/**
	 * Runs work that ends within `silenceMs`, one way or the other. Throws `StoreSilentError`, and errors of the work.
	 */
	run<T>(silenceMs: number, work: (on: On) => Promise<T>): Promise<T>;
	close(): Promise<void>;
}

/** Receives changes (`changed`) and recalls as the store sends them. Notices can be lost. */
export interface ChangeListener {
	listen(changed: () => void, recalled: (recall: Recall) => void): Promise<void>;
	close(): Promise<void>;
}

/** Exchanges minute windows. Throws errors of the store: the node then counts alone. */
export interface MinuteExchanger {
	exchange(exchange: MinuteExchange): Promise<MinuteAnswer>;
	close(): Promise<void>;
}

/** A node's request to the others for idle money of an account. */
export interface Recall {
	readonly nodeId: string;
	readonly accountId: string;
}
