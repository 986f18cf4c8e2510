import type { Database } from "bun:sqlite";

/**
 * Runs `work` in one writing transaction and returns its result. Any throw rolls everything back. (bun:sqlite's own
 * `transaction` rolls back blindly; after a full disk SQLite has done so itself, and the rollback would hide the
 * cause.)
 */
export function inTransaction<T>(db: Database, work: () => T): T {
	db.run("BEGIN IMMEDIATE");
	try {
		const result = work();
		db.run("COMMIT");
		return result;
	} catch (error) {
		if (db.inTransaction) db.run("ROLLBACK");
		throw error;
	}
}

/** As `inTransaction`, for work that awaits nothing beyond the current turn of the event loop. */
export async function inTransactionAsync<T>(db: Database, work: () => Promise<T>): Promise<T> {
	db.run("BEGIN IMMEDIATE");
	try {
		const result = await work();
		db.run("COMMIT");
		return result;
	} catch (error) {
		if (db.inTransaction) db.run("ROLLBACK");
		throw error;
	}
}
