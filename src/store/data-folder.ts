/** Where things lie in a data folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";

export function databasePath(dataDir: string): string {
	return join(dataDir, "turnpike.db");
}

export function journalFolder(dataDir: string): string {
	return join(dataDir, "journal");
}

/** True where the folder has a store already. */
export function hasDatabase(dataDir: string): boolean {
	return existsSync(databasePath(dataDir));
}
