/** Node ids of a data folder, one for each PostgreSQL store that it ever served: `DATA/nodes.json`. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { readJson, writeJsonDurably } from "./json-file.ts";

const NAME = "nodes.json";

/** Returns the folder's node id in a store, by the store's own id; undefined where it never served it. */
export function knownNodeId(dataDir: string, storeId: string): string | undefined {
	return readNodes(dataDir)[storeId];
}

/**
 * Returns the folder's node id in a store; creates it at the first call. The file is on the disk before it returns: a
 * journal must not carry an unknown node id.
 */
export function nodeIdIn(dataDir: string, storeId: string): string {
	const known = readNodes(dataDir);
	const id = known[storeId] ?? `node_${randomUUID()}`;
	if (!(storeId in known)) writeJsonDurably(join(dataDir, NAME), { ...known, [storeId]: id });
	return id;
}

/** Returns the ids under which the folder serves PostgreSQL stores. */
export function nodeIdsOf(dataDir: string): string[] {
	return Object.values(readNodes(dataDir));
}

function readNodes(dataDir: string): Record<string, string> {
	return readJson<string>(join(dataDir, NAME));
}
