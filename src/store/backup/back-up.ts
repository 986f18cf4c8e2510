/**
 * Copies a SQLite store while its server runs. The copy includes everything that was acknowledged before it began,
 * and needs no other file: a start on it begins the journal behind what is applied in it.
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolderNow } from "../../journal/durable-file.ts";
import type { AuditReport } from "../../ledger/audit.ts";
import { readBacklogs } from "../admin/backlog.ts";
import { openAdmin } from "../admin/open-admin.ts";
import { errorOf } from "../store-errors.ts";
import type { CopyAnswer, CopyRequest } from "./copy-thread.ts";

export interface BackUpOptions {
	readonly dataDir: string;
	/** The file to create; it must not exist. */
	readonly file: string;
	/** How long to wait for a server that has not applied its journal yet. */
	readonly patienceMs?: number;
}

export interface BackUpReport {
	readonly file: string;
	readonly bytes: number;
	readonly accounts: number;
	readonly posts: number;
	/** Records of the journal that no server applied in time: the copy lacks them. */
	readonly missingRecords: number;
}

/** Thrown where a file of that name exists: it is not replaced. */
class BackUpExistsError extends Error {
	override readonly name = "BackUpExistsError";
	readonly code = "BACKUP_EXISTS";
}

const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 20;
/** Files of a killed backup are removed by the next one once they are this old. */
const LEFTOVER_MS = 3_600_000;
const TEMPORARY = ".tmp";

/**
 * Copies the store's database to a file, under another name until its pages and the audit of its books are checked.
 * Reads one snapshot, while writers continue. Throws `BackUpExistsError`, `StoreThreadError` (COPY_FAULT or a code of
 * SQLite), and errors of the file system; no file is left then. Ends the process at SIGTERM and SIGINT, and leaves no
 * file either.
 */
export async function backUp({ dataDir, file, patienceMs }: BackUpOptions): Promise<BackUpReport> {
	if (existsSync(file)) throw new BackUpExistsError(`${file} is there already: a backup replaces nothing, name another file`);
	const missingRecords = await waitForBacklog(dataDir, patienceMs ?? PATIENCE_MS);
	const temporary = `${file}${TEMPORARY}`;
	removeCopy(temporary);
	const leave = (_name: string, signal: number): never => {
		removeCopy(temporary);
		process.exit(128 + signal);
	};
	process.on("SIGTERM", leave).on("SIGINT", leave);
	try {
		const counted = await copyAndCheck({ dataDir, file: temporary });
		syncFile(temporary);
		if (existsSync(file)) throw new BackUpExistsError(`${file} was made by another process meanwhile`);
		renameSync(temporary, file);
		syncFolderNow(dirname(file));
		return { file, bytes: statSync(file).size, accounts: counted.accounts, posts: counted.posts, missingRecords };
	} catch (error) {
		removeCopy(temporary);
		throw error;
	} finally {
		process.off("SIGTERM", leave).off("SIGINT", leave);
	}
}

function copyAndCheck(request: CopyRequest): Promise<AuditReport["counted"]> {
	const thread = new Worker(new URL("./copy-thread.ts", import.meta.url).href, { smol: true, name: "backup" });
	return new Promise<AuditReport["counted"]>((resolve, reject) => {
		thread.onmessage = ({ data }: MessageEvent<CopyAnswer>) =>
			"error" in data ? reject(errorOf(data.error)) : resolve(data.counted);
		thread.onerror = ({ message }) => reject(new Error(`the copying thread ended: ${message}`));
		thread.postMessage(request);
	}).finally(() => thread.terminate());
}

/** Removes an unfinished copy, and SQLite's journal of it. */
function removeCopy(file: string): void {
	for (const name of [file, `${file}-journal`]) rmSync(name, { force: true });
}

/** Waits until the store has what the journal held at the call. Returns the number of records that it still lacks. */
async function waitForBacklog(dataDir: string, patienceMs: number): Promise<number> {
	const admin = openAdmin(dataDir);
	try {
		const deadlineMs = performance.now() + patienceMs;
		const required = (await readBacklogs(admin, dataDir)).map(({ appliedSeq, groups }) => appliedSeq + groups);
		for (;;) {
			const backlogs = await readBacklogs(admin, dataDir);
			const behind = backlogs.filter(({ appliedSeq }, worker) => appliedSeq < (required[worker] ?? 0));
			if (behind.length === 0) return 0;
			if (performance.now() >= deadlineMs) return behind.reduce((sum, { records }) => sum + records, 0);
			await Bun.sleep(LOOK_EVERY_MS);
		}
	} finally {
		await admin.close();
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

/** Returns the path of a backup in a folder at an instant, Unix milliseconds: `turnpike-20261128T021500Z.db`. */
export function backUpFile(folder: string, nowMs: number): string {
	const stamp = new Date(nowMs).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
	return join(folder, `turnpike-${stamp}.db`);
}

/** Removes all but the newest `keep` backups of a folder, and files of killed ones. Returns the removed ones. */
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
