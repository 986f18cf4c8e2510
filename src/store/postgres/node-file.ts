/** Which node a data folder is, in each PostgreSQL store that it ever served: `DATA/nodes.json`. */
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolderNow } from "../../journal/durable-file.ts";

/**
 * The folder's node id in a store; made at the first call. The file is on the disk before it returns: a journal may not
 * carry the id of a node that nobody knows.
 */
export function nodeIdIn(dataDir: string, storeId: string): string {
	const path = join(dataDir, "nodes.json");
	const known = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, string>) : {};
	const id = known[storeId];
	if (id !== undefined) return id;
	const made = `node_${randomUUID()}`;
	const file = openSync(`${path}.tmp`, "w", 0o600);
	try {
		writeFileSync(file, `${JSON.stringify({ ...known, [storeId]: made }, null, "\t")}\n`);
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
	renameSync(`${path}.tmp`, path);
	syncFolderNow(dataDir);
	return made;
}
