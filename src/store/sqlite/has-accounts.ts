import { Database } from "bun:sqlite";
import { databasePath } from "../data-folder.ts";
import { asStoreFault } from "./damage.ts";

/**
 * Returns true where the store of a data folder has an account. It needs no typed queries, for a fast start of the
 * server.
 */
export function hasAccounts(dataDir: string): boolean {
	const db = new Database(databasePath(dataDir), { readonly: true });
	try {
		db.run("PRAGMA busy_timeout = 5000");
		return db.query("SELECT 1 FROM accounts LIMIT 1").get() !== null;
	} catch (error) {
		throw asStoreFault(databasePath(dataDir), error);
	} finally {
		db.close();
	}
}
