import { existsSync } from "node:fs";
import { JournalReader } from "../../journal/index.ts";
import { journalFolder } from "../data-folder.ts";
import { knownNodeId } from "../postgres/node-file.ts";
import type { AdminStore } from "./open-admin.ts";

/** How far the store is behind the node's journal. Commands see only the applied state. */
export interface Backlog {
	readonly appliedSeq: number;
	/** Groups and records that are durable in the journal but not yet in the store. */
	readonly groups: number;
	readonly records: number;
}

/** Reads the backlog beside a running server: the snapshot may be outdated when it is printed. */
export async function readBacklog(admin: AdminStore, dataDir: string): Promise<Backlog> {
	const nodeId = await nodeOf(admin, dataDir);
	const row =
		nodeId === null
			? undefined
			: await admin.db
					.selectFrom("nodes")
					.select(["node_id", "applied_seq"])
					.where("node_id", "=", nodeId)
					.orderBy("epoch", "desc")
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

/** Returns the folder's node; null where it never served this store. */
async function nodeOf(admin: AdminStore, dataDir: string): Promise<string | null> {
	const rows = await admin.db.selectFrom("meta").selectAll().where("name", "in", ["node_id", "store_id"]).execute();
	const named = (name: string) => rows.find((row) => row.name === name)?.value;
	const storeId = named("store_id");
	return (storeId === undefined ? named("node_id") : knownNodeId(dataDir, storeId)) ?? null;
}
