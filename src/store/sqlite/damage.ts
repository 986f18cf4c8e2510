/** Faults of a database file, with texts that name the file and what the operator can do. */
import { SQLiteError } from "bun:sqlite";
import { basename } from "node:path";

/** Thrown where the file is no database, is damaged, or cannot be opened. */
export class DatabaseDamagedError extends Error {
	override readonly name = "DatabaseDamagedError";
	readonly code = "DATABASE_DAMAGED";
}

/** Turns SQLite's error about the file at `path` into a text for the operator; returns anything else unchanged. */
export function asStoreFault(path: string, error: unknown): unknown {
	if (!(error instanceof SQLiteError)) return error;
	const code = error.code ?? "";
	if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return new DatabaseDamagedError(damageText(path, error.message), { cause: error });
	if (/^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/.test(code))
		return new DatabaseDamagedError(
			`${path} cannot be opened (${error.message}): let this user read and write it and its folder`,
			{
				cause: error,
			},
		);
	return error;
}

function damageText(path: string, reason: string): string {
	const name = basename(path);
	if (name === "lock.db") return `${path} is damaged (${reason}): it holds nothing; remove it and start again`;
	return (
		`${path} is damaged (${reason}): remove ${name}-wal and ${name}-shm beside it and put the file back from a copy; ` +
		"what the journal still holds is booked at the next start"
	);
}
