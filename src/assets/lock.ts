/**
 * Allows one fetch of an asset at a time, across processes. The lock is SQLite's own lock on a small file: the kernel releases
 * it when its holder dies, so no lock is ever stale.
 */
import { Database } from "bun:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 200;

const isBusy = (fault: unknown): boolean =>
	fault instanceof Error && "code" in fault && typeof fault.code === "string" && fault.code.startsWith("SQLITE_BUSY");

function tryLock(path: string): (() => void) | null {
	const database = new Database(path, { create: true });
	try {
		database.run("PRAGMA busy_timeout = 0");
		database.run("BEGIN EXCLUSIVE");
		return () => database.close();
	} catch (fault) {
		database.close();
		if (isBusy(fault)) return null;
		throw fault;
	}
}

/**
 * Waits for the lock on a file and takes it.
 * @param path of the lock file, which stays there, empty
 * @param whileWaiting called between attempts
 * @returns a function that releases the lock
 */
export async function acquireFileLock(path: string, signal: AbortSignal, whileWaiting: () => unknown): Promise<() => void> {
	for (;;) {
		signal.throwIfAborted();
		const release = tryLock(path);
		if (release) return release;
		await whileWaiting();
		await sleep(POLL_MS, undefined, { signal });
	}
}
