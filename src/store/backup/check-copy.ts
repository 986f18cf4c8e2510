/** Checks that a database file is a reliable copy of the books. */
import { type Database, SQLiteError } from "bun:sqlite";
import { Kysely } from "kysely";
import { type AuditReport, audit } from "../../ledger/audit.ts";
import { asStoreFault } from "../sqlite/damage.ts";
import { BunSqliteDialect } from "../sqlite/dialect.ts";
import type { Tables } from "../tables.ts";

/** Thrown where a copy is damaged, or its books do not balance. */
export class CopyFaultError extends Error {
	override readonly name = "CopyFaultError";
	readonly code = "COPY_FAULT";
}

/** Turns SQLite's error about a copy into a text for the operator; returns anything else unchanged. */
export function asCopyFault(path: string, error: unknown): unknown {
	if (error instanceof SQLiteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code ?? ""))
		return new CopyFaultError(`${path} is damaged (${error.message}): use another copy`, { cause: error });
	return asStoreFault(path, error);
}

/**
 * Checks the pages of a database, its references, and the books in it, then closes it. Throws `CopyFaultError` and
 * `DatabaseDamagedError`.
 */
export async function checkCopy(db: Database, path: string): Promise<AuditReport["counted"]> {
	const books = new Kysely<Tables>({ dialect: new BunSqliteDialect(db) });
	try {
		const faults = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)").all();
		const [first] = faults;
		if (first?.integrity_check !== "ok") throw new CopyFaultError(`${path} is damaged: ${first?.integrity_check}`);
		const loose = db.query("PRAGMA foreign_key_check").all();
		if (loose.length > 0) throw new CopyFaultError(`${path} is damaged: ${loose.length} rows refer to rows that are not there`);
		const report = await audit(books);
		const [finding] = report.findings;
		if (finding !== undefined) {
			throw new CopyFaultError(`the books in ${path} do not balance: ${finding.message} ${JSON.stringify(finding.numbers)}`);
		}
		return report.counted;
	} catch (error) {
		throw asCopyFault(path, error);
	} finally {
		await books.destroy();
	}
}
