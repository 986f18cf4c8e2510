/**
 * Allows one server per data folder: an exclusive lock on `lock.db`, which the kernel drops however the process ends.
 */
import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeOwnerDatabase } from "../../journal/owner-only.ts";
import { makeDataFolder, workerLockFolder, workerNumbers } from "../data-folder.ts";
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
/** Workers end when the process that started them has ended; on a busy machine they notice it late. */
const WORKERS_WAIT_MS = 10_000;

export interface DataLock {
	release(): void;
}

/**
 * Locks the folder of a worker that does not own the store, for as long as it runs: its journal must have one writer,
 * even if the process that started it was killed. Throws as `lockDataFolder` does.
 */
export function lockWorkerFolder(dataDir: string, worker: number): DataLock {
	return lockDataFolder(workerLockFolder(dataDir, worker));
}

/** Returns when no worker of an earlier server uses the folder any more. Throws as `lockDataFolder` does. */
export function waitForWorkers(dataDir: string): void {
	for (const worker of [0, ...workerNumbers(dataDir)]) {
		const folder = workerLockFolder(dataDir, worker);
		if (existsSync(folder)) lockDataFolder(folder, WORKERS_WAIT_MS).release();
	}
}

/** Locks the folder for this process. Throws `DataFolderInUseError`, `DataFolderError` and `DatabaseDamagedError`. */
export function lockDataFolder(dataDir: string, waitMs = WAIT_MS): DataLock {
	makeDataFolder(dataDir);
	const path = join(dataDir, "lock.db");
	const db = openLock(path);
	try {
		db.run(`PRAGMA busy_timeout = ${waitMs}`);
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
