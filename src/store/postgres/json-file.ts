/** Small JSON files of a data folder whose content must survive a power cut. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolderNow } from "../../journal/durable-file.ts";

/** Returns the values of a file by name; none where there is no file. */
export function readJson<T>(path: string): Record<string, T> {
	return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, T>) : {};
}

/** Replaces a file; it is on the disk before this returns. */
export function writeJsonDurably(path: string, values: Readonly<Record<string, unknown>>): void {
	const file = openSync(`${path}.tmp`, "w", 0o600);
	try {
		writeFileSync(file, `${JSON.stringify(values, null, "\t")}\n`);
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
	renameSync(`${path}.tmp`, path);
	syncFolderNow(dirname(path));
}
