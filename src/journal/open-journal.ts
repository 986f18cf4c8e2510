import { writeSync } from "node:fs";
import type { JournalOptions } from "./journal-options.ts";
import { makeOwnerFolder } from "./owner-only.ts";

import { JournalWriter } from "./writer.ts";

const MEBIBYTE = 1 << 20;

export const JOURNAL_DEFAULTS = {
	durability: "process",
	segmentBytes: 16 * MEBIBYTE,
	minFreeDiskBytes: 200 * MEBIBYTE,
	maxBacklogBytes: 256 * MEBIBYTE,
	graceMs: 30_000,
	syncEveryMs: 100,
	keepMs: 600_000,
	keepBytes: 256 * MEBIBYTE,
	diskCheckMs: 1_000,
	monotonicMs: () => performance.now(),
	onFatal: endProcess,
} as const satisfies Omit<JournalOptions, "dir" | "start">;

/** EX_IOERR of sysexits. */
const EXIT_IO_ERROR = 74;

function endProcess(error: Error): void {
	// process.stderr opens a file at its first use, and there may be no free descriptor.
	writeSync(2, `turnpike: the journal failed, so this process ends: ${error.message}\n`);
	process.exit(EXIT_IO_ERROR);
}

/**
 * Opens the writer of a node's journal on a fresh segment. The caller must have read and applied everything below
 * `start.nextSeq`. Throws errors of the file system.
 */
export async function openJournal(
	options: Pick<JournalOptions, "dir" | "start"> & Partial<JournalOptions>,
): Promise<JournalWriter> {
	makeOwnerFolder(options.dir);
	const writer = new JournalWriter({ ...JOURNAL_DEFAULTS, ...options });
	await writer.ready();
	return writer;
}
