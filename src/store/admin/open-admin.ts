import { Kysely } from "kysely";
import { BunSqliteDialect } from "../sqlite/dialect.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import type { StoreDb, Tables } from "../tables.ts";

/** The store as the operator's commands see it. */
export interface AdminStore {
	readonly db: StoreDb;
	/** Unix milliseconds. */
	readonly now: () => number;
	close(): Promise<void>;
}

/**
 * Opens the store of a data folder beside a server that may be running on it; makes it where there is none.
 * Throws `SQLiteError` and `StoreTooNewError`.
 */
export function openAdmin(dataDir: string, now: () => number = Date.now): AdminStore {
	// A credit that was answered must survive a power cut: no journal brings it again.
	const sqlite = openDatabase(dataDir, { synchronous: "FULL" });
	const db: StoreDb = new Kysely<Tables>({ dialect: new BunSqliteDialect(sqlite) });
	return { db, now, close: () => db.destroy() };
}
