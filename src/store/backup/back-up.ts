/**
 * A copy of a SQLite store while its server runs. It holds all that was acknowledged before it began, and it needs
 * nothing beside it: a start on it alone begins the journal behind what is booked in it.
 */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolderNow } from "../../journal/durable-file.ts";
import { makeOwnerDatabase } from "../../journal/owner-only.ts";
import { readBacklog } from "../admin/backlog.ts";
import { openAdmin } from "../admin/open-admin.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import { checkCopy } from "./check-copy.ts";

export interface BackUpOptions {
	readonly dataDir: string;
	/** The file to be made; nothing may be there. */
	readonly file: string;
	/** How long a server is waited for that has not booked yet what its journal holds. */
	readonly patienceMs?: number;
}

export interface BackUpReport {
	readonly file: string;
	readonly bytes: number;
	readonly accounts: number;
	readonly posts: number;
	/** Records of the journal that no server booked in time: they are not in the copy. */
	readonly missingRecords: number;
}

/** There is a file of that name already, and it is not replaced. */
class BackUpExistsError extends Error {
	override readonly name = "BackUpExistsError";
	readonly code = "BACKUP_EXISTS";
}

const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 20;
/** What a killed backup left behind is this old before the next one removes it. */
const LEFTOVER_MS = 3_600_000;
const TEMPORARY = ".tmp";

/**
 * Copies the store's database to a file, under another name until it was checked: its pages, and the audit of its books.
 * Reads one snapshot; writers go on meanwhile. Throws `BackUpExistsError`, `CopyFaultError`, and what SQLite and the
 * file system throw; no file is left then.
 */
export async function backUp({ dataDir, file, patienceMs }: BackUpOptions): Promise<BackUpReport> {
	if (existsSync(file)) throw new BackUpExistsError(`${file} is there already: a backup replaces nothing, name another file`);
	const missingRecords = await waitForBacklog(dataDir, patienceMs ?? PATIENCE_MS);
	const temporary = `${file}${TEMPORARY}`;
	rmSync(temporary, { force: true });
	try {
		copyTo(dataDir, temporary);
		const counted = await checkCopy(new Database(temporary, { readwrite: true, safeIntegers: true, strict: true }), temporary);
		syncFile(temporary);
		if (existsSync(file)) throw new BackUpExistsError(`${file} was made by another process meanwhile`);
		renameSync(temporary, file);
		syncFolderNow(dirname(file));
		return { file, bytes: statSync(file).size, accounts: counted.accounts, posts: counted.posts, missingRecords };
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}

/** Waits until the store has what the journal held at the call. Returns the records that it lacks all the same. */
async function waitForBacklog(dataDir: string, patienceMs: number): Promise<number> {
	const admin = openAdmin(dataDir);
	try {
		const deadlineMs = performance.now() + patienceMs;
		let backlog = await readBacklog(admin, dataDir);
		const wanted = backlog.appliedSeq + backlog.groups;
		while (backlog.appliedSeq < wanted) {
			if (performance.now() >= deadlineMs) return backlog.records;
			await Bun.sleep(LOOK_EVERY_MS);
			backlog = await readBacklog(admin, dataDir);
		}
		return 0;
	} finally {
		await admin.close();
	}
}

function copyTo(dataDir: string, file: string): void {
	const db = openDatabase(dataDir);
	try {
		// VACUUM INTO fills an empty file, and keeps its mode.
		makeOwnerDatabase(file);
		db.query("VACUUM INTO ?").run(file);
	} finally {
		db.close();
	}
}

export function syncFile(path: string): void {
	const file = openSync(path, "r+");
	try {
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
}

const NAME = /^turnpike-\d{8}T\d{6}Z\.db$/;

/** The file of a backup that is made in a folder at an instant, Unix milliseconds: `turnpike-20261128T021500Z.db`. */
export function backUpFile(folder: string, nowMs: number): string {
	const stamp = new Date(nowMs).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
	return join(folder, `turnpike-${stamp}.db`);
}

/** Removes all but the newest `keep` backups of a folder, and what killed ones left. Returns what it removed. */
export function rotateBackUps(folder: string, keep: number, nowMs: number): string[] {
	const names = readdirSync(folder).sort();
	const old = names.filter((name) => NAME.test(name)).slice(0, -keep);
	const left = names.filter((name) => {
		const isLeftover = name.endsWith(TEMPORARY) && NAME.test(basename(name, TEMPORARY));
		return isLeftover && statSync(join(folder, name)).mtimeMs < nowMs - LEFTOVER_MS;
	});
	for (const name of [...old, ...left]) rmSync(join(folder, name));
	return old;
}
