/** Decides whether an error is the fault of a record or of SQLite. */
import { SQLiteError } from "bun:sqlite";
import { isOutOfDescriptors } from "../../journal/index.ts";
import { StoreSilentError } from "../core/store-faults.ts";

const RECORD_CODES = ["SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_TOOBIG", "SQLITE_RANGE"];

/** See `BatchStore.isRecordFault`. */
export function isRecordFault(error: unknown): boolean {
	if (!(error instanceof SQLiteError)) return true;
	const code = error.code ?? "";
	return RECORD_CODES.some((prefix) => code.startsWith(prefix));
}

/** Returns true where the disk is full, the database is locked or failing, or no file can be opened: this may pass. */
export function isStoreTrouble(error: unknown): boolean {
	if (error instanceof StoreSilentError || isOutOfDescriptors(error)) return true;
	return error instanceof SQLiteError && !isRecordFault(error);
}
