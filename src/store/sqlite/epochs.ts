/** Boots of the one node of a SQLite store. */
import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { StoredEpoch } from "../core/store.ts";
import type { StoreClock } from "./store-clock.ts";
import { inTransaction } from "./transaction.ts";

/** Returns the folder's node with its latest boot; creates it at the first call. */
export function latestEpoch(db: Database, clock: StoreClock): StoredEpoch {
	return inTransaction(db, () => {
		db.query("INSERT INTO meta (name, value) VALUES ('node_id', ?) ON CONFLICT DO NOTHING").run(`node_${randomUUID()}`);
		const meta = db.query<{ value: string }, []>("SELECT value FROM meta WHERE name = 'node_id'").get();
		if (meta === null) throw new Error("the store lost its node id");
		const latest = db
			.query<{ epoch: bigint; applied_seq: bigint }, [string]>(
				"SELECT epoch, applied_seq FROM nodes WHERE node_id = ? ORDER BY epoch DESC LIMIT 1",
			)
			.get(meta.value);
		if (latest !== null) return { id: meta.value, epoch: Number(latest.epoch), appliedSeq: Number(latest.applied_seq) };
		return startEpoch(db, { id: meta.value, epoch: 0, appliedSeq: 0 }, clock);
	});
}

/** Begins the next boot where `before` ends. Runs inside the caller's transaction. */
export function startEpoch(db: Database, before: StoredEpoch, clock: StoreClock): StoredEpoch {
	const epoch = before.epoch + 1;
	db.query("INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, started_at) VALUES (?, ?, ?, ?, ?)").run(
		before.id,
		epoch,
		before.appliedSeq + 1,
		before.appliedSeq,
		clock.wallMs(),
	);
	return { id: before.id, epoch, appliedSeq: before.appliedSeq };
}
