/** The store on SQLite: of one node, or of the workers of one machine. Leases do not expire. */
import type { Database } from "bun:sqlite";
import { BatchApplier, type NodeEpoch } from "../core/batch-applier.ts";
import type { Store } from "../core/store.ts";
import { BatchRows } from "./batch-rows.ts";
import { CallerReader } from "./caller-reader.ts";
import { EntryCounter } from "./entry-counter.ts";
import { latestEpoch, startEpoch } from "./epochs.ts";
import { LeaseRepository, type LeaseRule } from "./lease-repository.ts";
import { RpcRepository } from "./rpc-repository.ts";
import type { RunningClaims } from "./running-claims.ts";
import type { StoreClock } from "./store-clock.ts";
import { inTransaction } from "./transaction.ts";

export interface SqliteStoreOptions {
	readonly db: Database;
	readonly clock: StoreClock;
	/** Called after each commit. */
	readonly written: () => void;
	readonly rule: LeaseRule;
	/** The running requests of all workers; null for a single node. */
	readonly running: RunningClaims | null;
}

/** Returns the store of an open database. */
export function sqliteStore({ db, clock, written, rule, running }: SqliteStoreOptions): Store<Database> {
	const callers = new CallerReader(db);
	const numbers = new EntryCounter(db);
	const leasesOf = (node: NodeEpoch) => new LeaseRepository(db, node, clock, rule);
	const endAll = (node: NodeEpoch): void => {
		leasesOf(node).endAll();
		running?.endAll(node.id);
	};
	const writing = <T>(result: T): T => {
		written();
		return result;
	};
	return {
		latestEpoch: async (_, nodeId) => latestEpoch(db, clock, nodeId),
		isKnownEpoch: async (_, boot) => latestEpoch(db, clock, boot.id).appliedSeq,
		startEpoch: async (_, before) =>
			writing(
				inTransaction(db, () => {
					endAll(before);
					return startEpoch(db, before, clock);
				}),
			),
		endEpoch: async (_, node) => writing(inTransaction(db, () => endAll(node))),
		readKey: async (_, hash, day) => callers.key(hash, day),
		readAccount: async (_, accountId) => callers.account(accountId),
		applier: (node) => {
			const applier = new BatchApplier(new BatchRows(db, node, clock, numbers, running));
			return { apply: async (_, groups) => writing(await applier.apply(db, groups)) };
		},
		leases: (node) => {
			const leases = leasesOf(node);
			return {
				execute: async (_, requests, liveNodes) => writing(leases.execute(requests, liveNodes)),
				budgets: async (_, accountId, day) => leases.budgets(accountId, day),
			};
		},
		rpc: (node) => {
			const rpc = new RpcRepository(db, node, running);
			return {
				idempotency: async (_, batch) => {
					const claims = rpc.idempotency(batch);
					return batch.drops.length > 0 ? writing(claims) : claims;
				},
				credits: async (_, query) => rpc.credits(query),
			};
		},
	};
}
