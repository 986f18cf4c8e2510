import { writeSync } from "node:fs";
import { makeOwnerFolder } from "./owner-only.ts";
import type { Durability } from "./records.ts";
import { JournalWriter } from "./writer.ts";

/** What the store knows of this boot when the writer starts: everything earlier is applied. */
export interface JournalStart {
	readonly nodeId: string;
	readonly epoch: number;
	/** Sequence number of the first group to be written. */
	readonly nextSeq: number;
	/** Up to here the store would survive a power cut; left out: nothing is known to. */
	readonly checkpointedSeq?: number;
}

export interface JournalOptions {
	/** Folder of the segments; made where it does not exist. */
	readonly dir: string;
	readonly start: JournalStart;
	readonly durability: Durability;
	readonly segmentBytes: number;
	/** Below this much free disk no new work is taken. */
	readonly minFreeDiskBytes: number;
	/** Above this much that the store has not applied no new work is taken. */
	readonly maxBacklogBytes: number;
	/** `store` durability: how long an outage of the store may last while new work is still taken. */
	readonly graceMs: number;
	/** `process` durability: how often what was written is synced to the disk. */
	readonly syncEveryMs: number;
	/** Full segments: kept this long at least, this many bytes at most. */
	readonly keepMs: number;
	readonly keepBytes: number;
	readonly diskCheckMs: number;
	/** Monotonic milliseconds. */
	readonly monotonicMs: () => number;
	/** A write or sync failed. The default ends the process: nothing is answered over a broken journal. */
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

/** sysexits: EX_IOERR. */
const EXIT_IO_ERROR = 74;

function endProcess(error: Error): void {
	// process.stderr opens a file at its first use, and there may be no descriptor left.
	writeSync(2, `turnpike: the journal failed, so this process ends: ${error.message}\n`);
	process.exit(EXIT_IO_ERROR);
}

/**
 * Opens the writer of a node's journal on a fresh segment. The caller has read and applied everything below
 * `start.nextSeq` before. Throws what the file system throws.
 */
export async function openJournal(
	options: Pick<JournalOptions, "dir" | "start"> & Partial<JournalOptions>,
): Promise<JournalWriter> {
	makeOwnerFolder(options.dir);
	const writer = new JournalWriter({ ...JOURNAL_DEFAULTS, ...options });
	await writer.ready();
	return writer;
}
