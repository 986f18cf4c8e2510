/** Paths in a data folder. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export function databasePath(dataDir: string): string {
	return join(dataDir, "turnpike.db");
}

export function journalFolder(dataDir: string): string {
	return join(dataDir, "journal");
}

/** Returns the folder of one of several workers; the first uses the data folder itself, as a single process does. */
export function workerFolder(dataDir: string, worker: number): string {
	return worker === 0 ? dataDir : join(dataDir, WORKERS, String(worker));
}

/** Returns the folder with the lock of a worker that does not own the store; the first has one for this alone. */
export function workerLockFolder(dataDir: string, worker: number): string {
	return join(dataDir, WORKERS, String(worker));
}

/** Returns the id of a worker's node in a SQLite store; the first has the id of the store's own node. */
export function workerNodeId(nodeId: string, worker: number): string {
	return worker === 0 ? nodeId : `${nodeId}-${worker}`;
}

/** Returns the numbers of the workers that have a folder, besides the first, in rising order. */
export function workerNumbers(dataDir: string): number[] {
	const folder = join(dataDir, WORKERS);
	if (!existsSync(folder)) return [];
	return readdirSync(folder)
		.filter((name) => /^[1-9]\d{0,3}$/.test(name))
		.map(Number)
		.sort((a, b) => a - b);
}

const WORKERS = "workers";

/** Returns true where the folder already has a store; an empty file does not count. */
export function hasDatabase(dataDir: string): boolean {
	return (statSync(databasePath(dataDir), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Thrown where the data folder cannot be created, or this user may not write in it. */
export class DataFolderError extends Error {
	override readonly name = "DataFolderError";
	readonly code = "DATA_FOLDER_UNUSABLE";

	constructor(dataDir: string, cause: unknown) {
		const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
		super(
			`the data folder ${dataDir} cannot be ${reason === "EACCES" ? "written by this user" : "made"} (${reason}): ` +
				"name another with --data or TURNPIKE_DATA",
			{ cause },
		);
	}
}

/** Creates the folder where it does not exist; only its owner may read it. Throws `DataFolderError`. */
export function makeDataFolder(dataDir: string): void {
	try {
		mkdirSync(dataDir, { recursive: true, mode: 0o700 });
		accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (error) {
		throw new DataFolderError(dataDir, error);
	}
}

/** Folder for bodies of stored answers that are too large for the journal. */
export function answersFolder(dataDir: string): string {
	return join(dataDir, "idempotency");
}

/** File name: epoch of the boot that wrote it, and 32 hex digits. */
const ANSWER_FILE = /^\d{1,16}-[0-9a-f]{32}$/;

/** Returns the path of such a body; null for any other name, so that no name leads out of the folder. */
export function answerFile(dataDir: string, name: string): string | null {
	return ANSWER_FILE.test(name) ? join(answersFolder(dataDir), name) : null;
}
