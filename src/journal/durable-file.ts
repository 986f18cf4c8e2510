/** File system steps that durability relies on. */
import { closeSync, fsyncSync, openSync, readdirSync, unlinkSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

/** Writes the whole buffer at a position. */
export function writeAll(fd: number, buffer: Buffer, position: number): void {
	for (let done = 0; done < buffer.length; ) {
		done += writeSync(fd, buffer, done, buffer.length - done, position + done);
	}
}

/** Windows does not open folders; NTFS journals names itself. */
const FOLDERS_SYNC = process.platform !== "win32";

/** Syncs a folder, so that the names in it survive a power cut. */
export async function syncFolder(dir: string): Promise<void> {
	if (!FOLDERS_SYNC) return;
	const folder = await open(dir, "r");
	try {
		await folder.sync();
	} finally {
		await folder.close();
	}
}

/** Does as `syncFolder`, synchronously: for a start or a burst, where blocking is right. */
export function syncFolderNow(dir: string): void {
	if (!FOLDERS_SYNC) return;
	const fd = openSync(dir, "r");
	try {
		fsyncSync(fd);
	} finally {
		closeSync(fd);
	}
}

/** Removes incomplete files that a kill left. */
export function removeTemporaries(dir: string): void {
	for (const name of readdirSync(dir)) if (name.endsWith(".tmp")) unlinkSync(join(dir, name));
}
