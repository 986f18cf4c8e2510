/** Entry point of the thread that copies a store: SQLite does it in one call, and the command still answers signals. */
import { Database } from "bun:sqlite";
import { makeOwnerDatabase } from "../../journal/owner-only.ts";
import type { AuditReport } from "../../ledger/audit.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import { type SentError, sentError } from "../thread-protocol.ts";
import { checkCopy } from "./check-copy.ts";

export interface CopyRequest {
	readonly dataDir: string;
	/** The file to write. */
	readonly file: string;
}

export type CopyAnswer = { readonly counted: AuditReport["counted"] } | { readonly error: SentError };

declare const self: Worker;

self.onmessage = async ({ data: { dataDir, file } }: MessageEvent<CopyRequest>) => {
	try {
		copyTo(dataDir, file);
		const counted = await checkCopy(new Database(file, { readwrite: true, safeIntegers: true, strict: true }), file);
		self.postMessage({ counted } satisfies CopyAnswer);
	} catch (error) {
		self.postMessage({ error: sentError(error) } satisfies CopyAnswer);
	}
};

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
