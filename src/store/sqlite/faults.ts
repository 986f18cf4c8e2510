/** Decides whether an error is the fault of a record or of SQLite. */
import { SQLiteError } from "bun:sqlite";

const RECORD_CODES = ["SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_TOOBIG", "SQLITE_RANGE"];

/** See `BatchStore.isRecordFault`. */
export function isRecordFault(error: unknown): boolean {
	if (!(error instanceof SQLiteError)) return true;
	const code = error.code ?? "";
	return RECORD_CODES.some((prefix) => code.startsWith(prefix));
}
