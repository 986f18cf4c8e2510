/**
 * Allows one server per data folder: an exclusive lock on `lock.db`, which the kernel drops however the process ends.
 */
import { Database, SQLiteError } from "bun:sqlite";
import { join } from "node:path";
import { makeOwnerDatabase } from "../../journal/owner-only.ts";
import { makeDataFolder } from "../data-folder.ts";
import { asStoreFault } from "./damage.ts";

/** Thrown where another server uses the folder. */
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

/** A process that was just killed may still be exiting. */
const WAIT_MS = 500;

export interface DataLock {
	release(): void;
}

/** Locks the folder for this process. Throws `DataFolderInUseError`, `DataFolderError` and `DatabaseDamagedError`. */
export function lockDataFolder(dataDir: string): DataLock {
	makeDataFolder(dataDir);
	const path = join(dataDir, "lock.db");
	const db = openLock(path);
	try {
		db.run(`PRAGMA busy_timeout = ${WAIT_MS}`);
		db.run("BEGIN EXCLUSIVE");
	} catch (error) {
		db.close();
		if (error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY")) {
			throw new DataFolderInUseError(dataDir, error);
		}
		throw asStoreFault(path, error);
	}
	return { release: () => db.close() };
}

function openLock(path: string): Database {
	try {
		makeOwnerDatabase(path);
		return new Database(path, { create: true, readwrite: true });
	} catch (error) {
		throw asStoreFault(path, error);
	}
}
