import { SQLiteError } from "bun:sqlite";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { AdminError } from "../store/admin/errors.ts";
import { asStoreFault, shownAddress } from "../store/index.ts";
import { printError } from "./print.ts";

/** Error codes whose message already says what to do. */
const SELF_EXPLANATORY = new Set([
	"DATA_FOLDER_UNUSABLE",
	"DATA_FOLDER_IN_USE",
	"DATABASE_DAMAGED",
	"BOOKS_LOST",
	"STORE_TOO_NEW",
	"JOURNAL_CORRUPT",
	"ARCHIVE_FAULT",
	"BACKUP_EXISTS",
	"COPY_FAULT",
	"RESTORE_REFUSED",
]);

/**
 * Returns one sentence about a store error or a wrong request of the operator; null for other errors, for which the stack is
 * more useful.
 */
export function storeFaultText({ store, data }: Pick<Config, "store" | "data">, thrown: unknown): string | null {
	const error = store === undefined ? asStoreFault(join(data, "turnpike.db"), thrown) : thrown;
	if (error instanceof AdminError) return error.message;
	if (!(error instanceof Error)) return null;
	const { code } = error as NodeJS.ErrnoException;
	if (code !== undefined && SELF_EXPLANATORY.has(code)) return capital(error.message);
	if (store !== undefined) return `The store ${shownAddress(store)} cannot be used: ${error.message}`;
	const ofMachine = error instanceof SQLiteError || (code !== undefined && /^(SQLITE_|E[A-Z]+$)/.test(code));
	return ofMachine ? `The store in ${data} cannot be used: ${error.message} (${code})` : null;
}

function capital(text: string): string {
	return text.startsWith("/") ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Runs work that opens a store; a store error ends the process with 1 and a sentence. */
export async function withStoreFaults<T>(config: Pick<Config, "store" | "data">, work: () => T | Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		const text = storeFaultText(config, error);
		if (text === null) throw error;
		printError(text);
		process.exit(1);
	}
}
