/** What can be wrong with a journal. Each is a fault of the machine or of our code, never of a caller's input. */

/** Where the journal broke, for the operator. */
export interface JournalFault {
	readonly file: string;
	/** Byte offset in the file where a good group was expected. */
	readonly offset: number;
	readonly expectedSeq: number;
	/** Sequence of the next good group that was found behind the damage, or null. */
	readonly foundSeq: number | null;
}

/** Groups that were written are damaged or missing, and later ones are there: records would be lost by reading on. */
export class JournalCorruptError extends Error {
	override readonly name = "JournalCorruptError";
	readonly code = "JOURNAL_CORRUPT";
	readonly fault: JournalFault;

	constructor(fault: JournalFault) {
		super(
			`the journal is damaged: ${fault.file} at byte ${fault.offset} does not hold group ${fault.expectedSeq}` +
				(fault.foundSeq === null ? "" : `, yet group ${fault.foundSeq} follows`) +
				". Nothing was skipped. Put the file back from a copy, or a newer database where that is what was put back; " +
				"or move the journal folder away to go on without its unapplied records",
		);
		this.fault = fault;
	}
}

/** A record that no segment can hold. */
export class JournalRecordTooLargeError extends Error {
	override readonly name = "JournalRecordTooLargeError";
	readonly code = "JOURNAL_RECORD_TOO_LARGE";

	constructor(bytes: number, maxBytes: number) {
		super(`a journal record of ${bytes} bytes passes the ${maxBytes} that one group can hold`);
	}
}

/** True where the process, or the machine, has no file descriptor left to open a file with: it may pass. */
export function isOutOfDescriptors(error: unknown): boolean {
	const { code } = error as NodeJS.ErrnoException;
	return code === "EMFILE" || code === "ENFILE";
}
