import { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { constants, copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename } from "node:path";
import { syncFolderNow } from "../../journal/durable-file.ts";
import { makeOwnerDatabase, restrictToOwner } from "../../journal/owner-only.ts";
import { databasePath, hasDatabase, journalFolder } from "../data-folder.ts";
import { lockDataFolder } from "../sqlite/data-lock.ts";
import { migrate, schemaNumber } from "../sqlite/migrate.ts";
import { inTransaction } from "../sqlite/transaction.ts";
import { syncFile } from "./back-up.ts";
import { asCopyFault, CopyFaultError, checkCopy } from "./check-copy.ts";

/** Thrown where the data folder already has books or a journal. */
class RestoreRefusedError extends Error {
	override readonly name = "RestoreRefusedError";
	readonly code = "RESTORE_REFUSED";
}

export interface RestoreReport {
	readonly accounts: number;
	readonly posts: number;
}

/**
 * Puts a copy of a SQLite store into a data folder without one, after checking its pages and the audit of its books.
 * The store is a new node from then on: it accepts no journal of the server that was copied, and that server's leases
 * are free. Throws `RestoreRefusedError`, `DataFolderInUseError`, `CopyFaultError`, `DatabaseDamagedError`,
 * `StoreTooNewError`, and errors of the file system; the folder has no store then.
 */
export async function restore(from: string, dataDir: string): Promise<RestoreReport> {
	if (!existsSync(from)) throw new RestoreRefusedError(`there is no file ${from}`);
	if (!statSync(from).isFile()) throw new RestoreRefusedError(`${from} is not a file: name one that turnpike backup wrote`);
	refuseLive(from);
	const lock = lockDataFolder(dataDir);
	const path = databasePath(dataDir);
	const temporary = `${path}.tmp`;
	try {
		refuseFull(dataDir);
		makeOwnerDatabase(temporary);
		copyFileSync(from, temporary, constants.COPYFILE_FICLONE);
		restrictToOwner(temporary);
		beginAnew(temporary, from);
		const counted = await checkCopy(openCopy(temporary), from);
		syncFile(temporary);
		// An empty file is no store, but its name would collide with the log of a real one.
		for (const leftover of [`${path}-wal`, `${path}-shm`]) rmSync(leftover, { force: true });
		renameSync(temporary, path);
		syncFolderNow(dataDir);
		return { accounts: counted.accounts, posts: counted.posts };
	} finally {
		for (const file of [temporary, `${temporary}-wal`, `${temporary}-shm`, `${temporary}-journal`]) rmSync(file, { force: true });
		lock.release();
	}
}

/** Refuses a database whose last writes are in a log beside it: without that log, older books would appear complete. */
function refuseLive(from: string): void {
	const log = `${from}-wal`;
	if (!existsSync(log) || statSync(log).size === 0) return;
	throw new RestoreRefusedError(
		`${from} is a store that was in use, not a backup: its last writes are in ${basename(log)}; start a server on its folder, or make a backup of it`,
	);
}

function refuseFull(dataDir: string): void {
	if (hasDatabase(dataDir)) {
		throw new RestoreRefusedError(
			`${dataDir} has a store already: name an empty folder with --data, or move turnpike.db and journal away`,
		);
	}
	const dir = journalFolder(dataDir);
	if (existsSync(dir) && readdirSync(dir).some((name) => name.endsWith(".seg"))) {
		throw new RestoreRefusedError(
			`${dir} is the journal of other books: name an empty folder with --data, or move the journal away; its posts are not in the copy`,
		);
	}
}

function openCopy(path: string): Database {
	return new Database(path, { readwrite: true, safeIntegers: true, strict: true });
}

function beginAnew(path: string, from: string): void {
	const db = openCopy(path);
	try {
		db.run("PRAGMA journal_mode = DELETE");
		db.run("PRAGMA foreign_keys = ON");
		if (schemaNumber(db) === 0) throw new CopyFaultError(`${from} is not a copy of a store`);
		migrate(db);
		inTransaction(db, () => {
			db.run("UPDATE budgets SET leased = 0 WHERE leased > 0");
			db.run("DELETE FROM leases");
			db.query("UPDATE meta SET value = ? WHERE name = 'node_id'").run(`node_${randomUUID()}`);
		});
	} catch (error) {
		throw asCopyFault(from, error);
	} finally {
		db.close();
	}
}
