/** Boots of the nodes of a SQLite store: of its one process, or of each worker. */
import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { StoredEpoch } from "../core/store.ts";
import { workerNodeId } from "../data-folder.ts";
import type { StoreClock } from "./store-clock.ts";
import { inTransaction } from "./transaction.ts";

/** Returns the id of the folder's node, created at the first call; workers after the first have ids of their own. */
export function nodeIdOf(db: Database, worker = 0): string {
	db.query("INSERT INTO meta (name, value) VALUES ('node_id', ?) ON CONFLICT DO NOTHING").run(`node_${randomUUID()}`);
	const meta = db.query<{ value: string }, []>("SELECT value FROM meta WHERE name = 'node_id'").get();
	if (meta === null) throw new Error("the store lost its node id");
	return workerNodeId(meta.value, worker);
}

/** Returns a node's latest boot; the first call for a node begins one. */
export function latestEpoch(db: Database, clock: StoreClock, nodeId: string): StoredEpoch {
	return inTransaction(db, () => {
		const latest = db
			.query<{ epoch: bigint; applied_seq: bigint }, [string]>(
				"SELECT epoch, applied_seq FROM nodes WHERE node_id = ? ORDER BY epoch DESC LIMIT 1",
			)
			.get(nodeId);
		if (latest !== null) return { id: nodeId, epoch: Number(latest.epoch), appliedSeq: Number(latest.applied_seq) };
		return startEpoch(db, { id: nodeId, epoch: 0, appliedSeq: 0 }, clock);
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
