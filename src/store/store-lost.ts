/**
 * Protects a journal whose books are missing: new books would forget every account, and the journal's posts with
 * them.
 */
import { statSync } from "node:fs";
import { holdsOtherNodes } from "../journal/index.ts";
import { databasePath, hasDatabase, journalFolder } from "./data-folder.ts";
import { nodeIdsOf } from "./postgres/node-file.ts";

/** Thrown where the database was removed or emptied while the journal that fed it still exists. */
export class StoreLostError extends Error {
	override readonly name = "BooksLostError";
	readonly code = "BOOKS_LOST";

	constructor(dataDir: string) {
		super(
			`${databasePath(dataDir)} is missing or empty, yet ${journalFolder(dataDir)} holds what was booked in it: ` +
				"put the database back from a copy; or move the journal folder away to begin anew, without accounts and balances",
		);
	}
}

/**
 * Throws `StoreLostError` where a journal of this folder has no database beside it. The journal of a PostgreSQL store
 * needs none.
 */
export function refuseLostStore(dataDir: string): void {
	if (hasDatabase(dataDir)) return;
	const dir = journalFolder(dataDir);
	if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
	if (holdsOtherNodes(dir, nodeIdsOf(dataDir))) throw new StoreLostError(dataDir);
}
