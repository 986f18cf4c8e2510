/** The store on SQLite: one node, whose leases do not expire. */
import type { Database } from "bun:sqlite";
import { BatchApplier, type NodeEpoch } from "../core/batch-applier.ts";
import type { Store } from "../core/store.ts";
import { BatchRows } from "./batch-rows.ts";
import { CallerReader } from "./caller-reader.ts";
import { latestEpoch, startEpoch } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";
import { RpcRepository } from "./rpc-repository.ts";
import type { StoreClock } from "./store-clock.ts";
import { inTransaction } from "./transaction.ts";

export interface SqliteStoreOptions {
	readonly db: Database;
	readonly clock: StoreClock;
	/** Called after each commit. */
	readonly written: () => void;
	/** Returns true where an account's money is leased sparingly: see `LeaseRepository`. */
	readonly isSpared: (accountId: string) => boolean;
}

/** Returns the store of an open database. */
export function sqliteStore({ db, clock, written, isSpared }: SqliteStoreOptions): Store<Database> {
	const callers = new CallerReader(db);
	const rpc = new RpcRepository(db);
	const leasesOf = (node: NodeEpoch) => new LeaseRepository(db, node, clock, isSpared);
	const writing = <T>(result: T): T => {
		written();
		return result;
	};
	return {
		latestEpoch: async () => latestEpoch(db, clock),
		isKnownEpoch: async () => latestEpoch(db, clock).appliedSeq,
		startEpoch: async (_, before) =>
			writing(
				inTransaction(db, () => {
					leasesOf(before).endAll();
					return startEpoch(db, before, clock);
				}),
			),
		endEpoch: async (_, node) => writing(inTransaction(db, () => leasesOf(node).endAll())),
		readKey: async (_, hash, day) => callers.key(hash, day),
		readAccount: async (_, accountId) => callers.account(accountId),
		applier: (node) => {
			const applier = new BatchApplier(new BatchRows(db, node, clock));
			return { apply: async (_, groups) => writing(await applier.apply(db, groups)) };
		},
		leases: (node) => {
			const leases = leasesOf(node);
			return {
				execute: async (_, requests) => writing(leases.execute(requests)),
				budgets: async (_, accountId, day) => leases.budgets(accountId, day),
			};
		},
		rpc: () => ({
			idempotency: async (_, batch) => {
				const claims = rpc.idempotency(batch);
				return batch.drops.length > 0 ? writing(claims) : claims;
			},
			credits: async (_, query) => rpc.credits(query),
		}),
	};
}
