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
