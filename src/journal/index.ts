/**
 * The node's append file: the one place where a charge becomes durable.
 *
 * Promises: a record whose `append` has resolved is found again by the reader after kill -9 (and after a power
 * cut where the durability says so), exactly once and in order; running requests always have room to post,
 * because new ones are turned away first (`room`); damage that is not the torn end of the last write is
 * reported and stops the reader.
 *
 * Never: waits for a database, skips a damaged group, answers over a failed write (the process ends), or uses
 * a segment again before the store holds all of it durably.
 */
export { isOutOfDescriptors, JournalCorruptError, JournalRecordTooLargeError } from "./faults.ts";
export { JOURNAL_DEFAULTS, type JournalOptions, type JournalStart, openJournal } from "./open-journal.ts";
export { JournalReader, type LostTail, type ReadGroup } from "./reader.ts";
export * from "./records.ts";
export { holdsOtherNodes, type JournalPosition } from "./segment.ts";
export type { JournalWriter, StoreProgress } from "./writer.ts";
