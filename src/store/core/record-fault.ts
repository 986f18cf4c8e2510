import { SQLiteError } from "bun:sqlite";

/** Thrown for a journal record that the books refuse: it goes to `rejected`, and the others continue. */
export class RecordFault extends Error {
	override readonly name = "RecordFault";
}

const RECORD_CODES = ["SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_TOOBIG", "SQLITE_RANGE"];

/**
 * Returns true where the record is at fault, false where the store is (disk full, locked, damaged): then the whole
 * batch is tried again. An unforeseen error while one record is applied counts as that record's fault, so that it can
 * never hold up the others.
 */
export function isRecordFault(error: unknown): boolean {
	if (!(error instanceof SQLiteError)) return true;
	const code = error.code ?? "";
	return RECORD_CODES.some((prefix) => code.startsWith(prefix));
}
