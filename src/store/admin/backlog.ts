import { existsSync } from "node:fs";
import { JournalReader } from "../../journal/index.ts";
import { journalFolder, workerFolder, workerNodeId, workerNumbers } from "../data-folder.ts";
import { knownNodeId } from "../postgres/node-file.ts";
import type { AdminStore } from "./open-admin.ts";

/** How far the store is behind the node's journal. Commands see only the applied state. */
export interface Backlog {
	readonly appliedSeq: number;
	/** Groups and records that are durable in the journal but not yet in the store. */
	readonly groups: number;
	readonly records: number;
}

/** Reads the backlog of all workers together beside a running server: it may be outdated when it is printed. */
export async function readBacklog(admin: AdminStore, dataDir: string): Promise<Backlog> {
	const backlogs = await readBacklogs(admin, dataDir);
	const sum = (of: (backlog: Backlog) => number) => backlogs.reduce((total, backlog) => total + of(backlog), 0);
	return { appliedSeq: sum((one) => one.appliedSeq), groups: sum((one) => one.groups), records: sum((one) => one.records) };
}

/** Returns the backlog of each worker that ever served the folder, in the order of their numbers. */
export async function readBacklogs(admin: AdminStore, dataDir: string): Promise<Backlog[]> {
	const rows = await admin.db.selectFrom("meta").selectAll().where("name", "in", ["node_id", "store_id"]).execute();
	const ids = new Map(rows.map(({ name, value }) => [name, value]));
	const backlogs: Backlog[] = [];
	for (const worker of [0, ...workerNumbers(dataDir)])
		backlogs.push(await backlogOf(admin, workerFolder(dataDir, worker), nodeOf(ids, dataDir, worker)));
	return backlogs;
}

async function backlogOf(admin: AdminStore, folder: string, nodeId: string | null): Promise<Backlog> {
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
	const dir = journalFolder(folder);
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

/** Returns the node of a worker's folder; null where it never served this store. */
function nodeOf(ids: ReadonlyMap<string, string>, dataDir: string, worker: number): string | null {
	const storeId = ids.get("store_id");
	if (storeId !== undefined) return knownNodeId(workerFolder(dataDir, worker), storeId) ?? null;
	const nodeId = ids.get("node_id");
	return nodeId === undefined ? null : workerNodeId(nodeId, worker);
}
