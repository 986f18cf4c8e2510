import { existsSync } from "node:fs";
import { JournalReader } from "../../journal/index.ts";
import { journalFolder } from "../data-folder.ts";
import type { AdminStore } from "./open-admin.ts";

/** How far the store is behind the node's journal. The commands see the applied state only. */
export interface Backlog {
	readonly appliedSeq: number;
	/** Groups and records that are durable in the journal and not in the store yet. */
	readonly groups: number;
	readonly records: number;
}

/** Reads beside a running server: a snapshot that may be old when it is told. */
export async function readBacklog(admin: AdminStore, dataDir: string): Promise<Backlog> {
	const row = await admin.db
		.selectFrom("nodes")
		.innerJoin("meta", (join) => join.onRef("meta.value", "=", "nodes.node_id").on("meta.name", "=", "node_id"))
		.select(["nodes.node_id", "nodes.applied_seq"])
		.orderBy("nodes.epoch", "desc")
		.limit(1)
		.executeTakeFirst();
	const dir = journalFolder(dataDir);
	const appliedSeq = Number(row?.applied_seq ?? 0);
	if (row === undefined || !existsSync(dir)) return { appliedSeq, groups: 0, records: 0 };
	const reader = new JournalReader({ dir, nodeId: row.node_id, nextSeq: appliedSeq + 1 });
	try {
		let groups = 0;
		let records = 0;
		for (const group of reader.readPresent()) {
			groups++;
			records += group.records.length;
		}
		return { appliedSeq, groups, records };
	} finally {
		reader.close();
	}
}
