import { writeSync } from "node:fs";
import { makeOwnerFolder } from "./owner-only.ts";
import type { Durability } from "./records.ts";
import { JournalWriter } from "./writer.ts";

/** The store's state of this boot when the writer starts: everything earlier is applied. */
export interface JournalStart {
	readonly nodeId: string;
	readonly epoch: number;
	/** Sequence number of the first group to be written. */
	readonly nextSeq: number;
	/** The store would survive a power cut up to this sequence; left out where none is known. */
	readonly checkpointedSeq?: number;
}

export interface JournalOptions {
	/** Folder of the segments; created where it does not exist. */
	readonly dir: string;
	readonly start: JournalStart;
	readonly durability: Durability;
	readonly segmentBytes: number;
	/** New work is refused below this much free disk space. */
	readonly minFreeDiskBytes: number;
	/** New work is refused above this many bytes that the store has not applied. */
	readonly maxBacklogBytes: number;
	/** `store` durability: how long the store may be unavailable while new work is still accepted. */
	readonly graceMs: number;
	/** `process` durability: the interval at which written data is synced to the disk. */
	readonly syncEveryMs: number;
	/** Full segments are kept for at least this long, up to this many bytes. */
	readonly keepMs: number;
	readonly keepBytes: number;
	readonly diskCheckMs: number;
	/** Monotonic milliseconds. */
	readonly monotonicMs: () => number;
	/** Called where a write or sync failed. The default ends the process: no answer goes out over a broken journal. */
	readonly onFatal: (error: Error) => void;
}

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
