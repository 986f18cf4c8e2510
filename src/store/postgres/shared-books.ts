/**
 * What a node's store thread asks of the books that several nodes share. `On` is what a question is asked on: a
 * connection to PostgreSQL; in the simulation of many nodes, the way to a store in memory that keeps the same rules.
 * Each call is one transaction. All throw `FencedError` and trouble of the store (`faults.ts`).
 */
import type { ReadGroup } from "../../journal/index.ts";
import type { CreditBucket, CreditQuestion, IdempotencyTrip, StoredClaim } from "../idempotency.ts";
import type { MinuteAnswer, MinuteExchange } from "../minutes.ts";
import type { Account, AcquireRequest, AcquireResult, BudgetState, KeyLoad, StoreChange } from "../port.ts";
import type { ReturnRequest } from "../thread-protocol.ts";
import type { NodeEpoch } from "./batch-applier.ts";
import type { Beat, Boot } from "./boots.ts";

export interface SharedBooks<On> {
	/** See `boots.ts`. */
	latestBoot(on: On, nodeId: string): Promise<Boot>;
	knownBoot(on: On, boot: Boot): Promise<number>;
	startBoot(on: On, before: Boot, termMs: number): Promise<Boot>;
	endBoot(on: On, node: NodeEpoch): Promise<void>;
	beat(on: On, node: NodeEpoch, termMs: number): Promise<Beat>;
	reap(on: On, afterMs: number): Promise<number>;
	/** See `caller-reader.ts`. */
	readKey(on: On, hash: string, day: number): Promise<KeyLoad | null>;
	readAccount(on: On, accountId: string): Promise<Account | null>;
	/** See `batch-applier.ts`. */
	applier(node: NodeEpoch): BooksApplier<On>;
	/** See `lease-book.ts`. */
	leases(node: NodeEpoch): BooksLeases<On>;
	/** See `rpc-book.ts`. */
	rpc(node: NodeEpoch): BooksRpc<On>;
	/** Changes from now on; see `change-feed.ts`. */
	changes(on: On): Promise<{ poll(on: On): Promise<StoreChange[]> }>;
	/** Tells the other nodes that money of these accounts is wanted back. */
	askBack(on: On, nodeId: string, accountIds: readonly string[]): Promise<void>;
}

export interface BooksApplier<On> {
	apply(on: On, groups: readonly ReadGroup[]): Promise<number>;
}

/** What a node asks about its leases on one account. */
export type LeaseAsk =
	| { readonly name: "acquire"; readonly arguments: AcquireRequest }
	| { readonly name: "giveBack"; readonly arguments: ReturnRequest };

export interface BooksLeases<On> {
	/** One transaction for all of them, each about another account; the answers are in the order of `asks`. */
	trip(on: On, asks: readonly LeaseAsk[], liveNodes: number): Promise<AcquireResult[]>;
	budgets(on: On, accountId: string, day: number): Promise<readonly BudgetState[]>;
}

export interface BooksRpc<On> {
	idempotency(on: On, trip: IdempotencyTrip): Promise<readonly StoredClaim[]>;
	credits(on: On, question: CreditQuestion): Promise<readonly CreditBucket[]>;
}

/** The way to the shared books. */
export interface BooksLink<On> {
	/** Work that ends within `silenceMs`, one way or the other. Throws `StoreSilentError`, and what the work throws. */
	run<T>(silenceMs: number, work: (on: On) => Promise<T>): Promise<T>;
	close(): Promise<void>;
}

/** Where a node hears of changes (`changed`) and of recalls, as the store tells them. Notices can be lost. */
export interface BooksEar {
	listen(changed: () => void, recalled: (recall: Recall) => void): Promise<void>;
	close(): Promise<void>;
}

/** Where minute windows are exchanged. Throws what the store throws: the node then counts alone. */
export interface MinuteDesk {
	exchange(exchange: MinuteExchange): Promise<MinuteAnswer>;
	close(): Promise<void>;
}

/** A node asks the others for idle money of an account. */
export interface Recall {
	readonly nodeId: string;
	readonly accountId: string;
}
