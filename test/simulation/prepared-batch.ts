import type { ReadGroup } from "../../src/journal/index.ts";
import { type ComparedStore, START } from "./compared-stores.ts";
import { History } from "./history.ts";

/** Its batch has posts, movements and a stored answer, and no record at fault. */
const SEED = Number(process.env.BATCH_SEED ?? 203);
const BATCHES_BEFORE = 4;

/** A store's history up to a batch that is to be interrupted, always the same. */
export interface PreparedBatch {
	/** Brings an empty store to where the batch begins. */
	prepare(store: ComparedStore): Promise<void>;
	readonly groups: readonly ReadGroup[];
}

export function preparedBatch(): PreparedBatch {
	const history = new History(SEED);
	const before = Array.from({ length: BATCHES_BEFORE }, () => ({ changes: history.leaseChanges(), groups: history.groups() }));
	return {
		groups: history.groups(),
		async prepare(store) {
			for (const statement of START) await store.run(statement);
			for (const { changes, groups } of before) {
				for (const change of changes) await store.run(change);
				await store.apply(groups);
			}
		},
	};
}
