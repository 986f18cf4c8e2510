import { Database } from "bun:sqlite";
import { makeOwnerDatabase } from "../../journal/owner-only.ts";
import { databasePath, makeDataFolder } from "../data-folder.ts";
import { asStoreFault } from "./damage.ts";
import { migrate } from "./migrate.ts";

export interface OpenDatabaseOptions {
	/** FULL where a commit must survive a power cut by itself; NORMAL where the journal restores it. */
	readonly synchronous?: "NORMAL" | "FULL";
	/** How long a statement waits for another writer. */
	readonly busyTimeoutMs?: number;
}

/**
 * Opens the store's database with the newest schema, and creates both where they do not exist. Integers are read as
 * BigInt, since sums can pass 2^53. Throws `DataFolderError`, `DatabaseDamagedError`, `SQLiteError` and
 * `StoreTooNewError`.
 */
export function openDatabase(dataDir: string, options: OpenDatabaseOptions = {}): Database {
	makeDataFolder(dataDir);
	const path = databasePath(dataDir);
	const db = openFile(path);
	try {
		db.run(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? 5_000}`);
		db.run("PRAGMA journal_mode = WAL");
		db.run(`PRAGMA synchronous = ${options.synchronous ?? "NORMAL"}`);
		db.run("PRAGMA foreign_keys = ON");
		migrate(db);
	} catch (error) {
		db.close();
		throw asStoreFault(path, error);
	}
	return db;
}

function openFile(path: string): Database {
	try {
		makeOwnerDatabase(path);
		return new Database(path, { create: true, readwrite: true, safeIntegers: true, strict: true });
	} catch (error) {
		throw asStoreFault(path, error);
	}
}
