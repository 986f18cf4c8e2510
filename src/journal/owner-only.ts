/**
 * Files of the books are their owner's alone, whatever the umask says and whoever made the folder. What an earlier version
 * or another hand left open is closed when it is opened.
 */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export const OWNER_FILE_MODE = 0o600;
const OWNER_FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/** Windows has lists of rights instead: its modes say nothing. */
const HAS_MODES = process.platform !== "win32";

/** Returns the mode in octal digits where others have rights in a file or folder; null where they have none. */
export function openMode(path: string): string | null {
	const mode = HAS_MODES ? (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) : 0;
	return (mode & OTHERS) === 0 ? null : (mode & 0o777).toString(8);
}

/** Takes others' rights in a file or folder; leaves one that is not there, and one of another user. */
export function restrictToOwner(path: string): void {
	if (openMode(path) === null) return;
	try {
		chmodSync(path, statSync(path).mode & ~OTHERS & 0o7777);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "EPERM" && code !== "ENOENT") throw error;
	}
}

/** Makes a folder, and takes others' rights in it and in its files. Throws what the file system throws. */
export function makeOwnerFolder(path: string): void {
	mkdirSync(path, { recursive: true, mode: OWNER_FOLDER_MODE });
	restrictToOwner(path);
	for (const name of readdirSync(path)) restrictToOwner(join(path, name));
}

/**
 * Makes an empty file for SQLite to open, or takes others' rights in the one that is there, and in the files beside it: those
 * that SQLite makes later take its mode. A file that is there is not opened: closing it would drop SQLite's locks on it
 * (fcntl(2)). Throws what the file system throws.
 */
export function makeOwnerDatabase(path: string): void {
	try {
		closeSync(openSync(path, "wx", OWNER_FILE_MODE));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		for (const beside of ["", "-wal", "-shm", "-journal"]) restrictToOwner(path + beside);
	}
}
