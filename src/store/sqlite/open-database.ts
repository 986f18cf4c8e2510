import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { databasePath } from "../data-folder.ts";
import { migrate } from "./migrate.ts";

export interface OpenDatabaseOptions {
	/** FULL where a commit must survive a power cut by itself; NORMAL where the journal brings it again. */
	readonly synchronous?: "NORMAL" | "FULL";
	/** How long a statement waits for another writer. */
	readonly busyTimeoutMs?: number;
}

/**
 * Opens the store's database with the newest schema, makes both where they do not exist. Integers come as
 * BigInt: sums can pass 2^53. Throws `SQLiteError` and `StoreTooNewError`.
 */
export function openDatabase(dataDir: string, options: OpenDatabaseOptions = {}): Database {
	mkdirSync(dataDir, { recursive: true, mode: 0o700 });
	const db = new Database(databasePath(dataDir), { create: true, readwrite: true, safeIntegers: true, strict: true });
	try {
		db.run(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? 5_000}`);
		db.run("PRAGMA journal_mode = WAL");
		db.run(`PRAGMA synchronous = ${options.synchronous ?? "NORMAL"}`);
		db.run("PRAGMA foreign_keys = ON");
		migrate(db);
	} catch (error) {
		db.close();
		throw error;
	}
	return db;
}
