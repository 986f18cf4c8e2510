import type { Durability } from "./records.ts";

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
	/** Called if a write or sync failed. The default ends the process: no answer goes out over a broken journal. */
	readonly onFatal: (error: Error) => void;
}
