/** One server per data folder: an exclusive lock on `lock.db` that the kernel drops when the process ends, however it ends. */
import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** Another server works on the folder. */
export class DataFolderInUseError extends Error {
	override readonly name = "DataFolderInUseError";
	readonly code = "DATA_FOLDER_IN_USE";

	constructor(dataDir: string, cause: unknown) {
		super(
			`another server already runs on the data folder ${dataDir} (its process id stands in serve.pid there). ` +
				"Stop it first, or start this one on a folder of its own",
			{ cause },
		);
	}
}

/** A process that was just killed may still be on its way out. */
const WAIT_MS = 500;

export interface DataLock {
	release(): void;
}

/** Locks the folder for this process. Throws `DataFolderInUseError`. */
export function lockDataFolder(dataDir: string): DataLock {
	mkdirSync(dataDir, { recursive: true, mode: 0o700 });
	const db = new Database(join(dataDir, "lock.db"), { create: true, readwrite: true });
	try {
		db.run(`PRAGMA busy_timeout = ${WAIT_MS}`);
		db.run("BEGIN EXCLUSIVE");
	} catch (error) {
		db.close();
		if (error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY")) {
			throw new DataFolderInUseError(dataDir, error);
		}
		throw error;
	}
	return { release: () => db.close() };
}
