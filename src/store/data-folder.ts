/** Where things lie in a data folder. */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";

export function databasePath(dataDir: string): string {
	return join(dataDir, "turnpike.db");
}

export function journalFolder(dataDir: string): string {
	return join(dataDir, "journal");
}

/** True where the folder has a store already: an empty file is none. */
export function hasDatabase(dataDir: string): boolean {
	return (statSync(databasePath(dataDir), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** The data folder cannot be made, or this user may not write in it. */
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

/** Makes the folder where it does not exist; only its owner may look into it. Throws `DataFolderError`. */
export function makeDataFolder(dataDir: string): void {
	try {
		mkdirSync(dataDir, { recursive: true, mode: 0o700 });
		accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (error) {
		throw new DataFolderError(dataDir, error);
	}
}
