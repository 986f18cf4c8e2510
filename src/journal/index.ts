/**
 * The node's append-only file: the one place where a charge becomes durable.
 *
 * Guarantees: the reader finds a record whose `append` has resolved exactly once and in order after kill -9, and
 * after a power cut where the durability mode says so. Running requests can always post, because new work is refused
 * first (`workRefusal`). Damage other than the torn end of the last write is reported and stops the reader.
 *
 * The journal never waits for a database and never skips a damaged group. After a failed write the process ends
 * without answering. A segment is used again only when the store holds all of it durably.
 */
export { isOutOfDescriptors, JournalCorruptError, JournalRecordTooLargeError } from "./faults.ts";
export type { JournalOptions, JournalStart } from "./journal-options.ts";
export { JOURNAL_DEFAULTS, openJournal } from "./open-journal.ts";
export { JournalReader, type LostTail, type ReadGroup } from "./reader.ts";
export * from "./records.ts";
export { holdsOtherNodes, type JournalPosition } from "./segment.ts";
export type { JournalWriter, StoreProgress } from "./writer.ts";
