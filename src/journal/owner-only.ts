/**
 * Restricts files of the books to their owner, whatever the umask is and whoever created the folder. Permissions that
 * an earlier version or another program left open are removed when the file is opened.
 */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export const OWNER_FILE_MODE = 0o600;
const OWNER_FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/** Windows uses access control lists instead: its modes mean nothing. */
const HAS_MODES = process.platform !== "win32";

/** Returns the mode in octal digits where others have rights in a file or folder; null if they have none. */
export function openMode(path: string): string | null {
	const mode = HAS_MODES ? (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) : 0;
	return (mode & OTHERS) === 0 ? null : (mode & 0o777).toString(8);
}

/** Removes others' rights to a file or folder; ignores a missing one, and one of another user. */
export function restrictToOwner(path: string): void {
	if (openMode(path) === null) return;
	try {
		chmodSync(path, statSync(path).mode & ~OTHERS & 0o7777);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "EPERM" && code !== "ENOENT") throw error;
	}
}

/** Creates a folder, and removes others' rights to it and its files. Throws errors of the file system. */
export function makeOwnerFolder(path: string): void {
	mkdirSync(path, { recursive: true, mode: OWNER_FOLDER_MODE });
	restrictToOwner(path);
	for (const name of readdirSync(path)) restrictToOwner(join(path, name));
}

/**
 * Creates an empty file for SQLite to open, or removes others' rights to the existing one and to the files beside it;
 * files that SQLite creates later inherit its mode. An existing file is not opened, since closing it would drop
 * SQLite's locks on it (fcntl(2)). Throws errors of the file system.
 */
export function makeOwnerDatabase(path: string): void {
	try {
		closeSync(openSync(path, "wx", OWNER_FILE_MODE));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		for (const beside of ["", "-wal", "-shm", "-journal"]) restrictToOwner(path + beside);
	}
}
