/** The faults of a journal. Each is a fault of the machine or of our code, never of a caller's input. */

/** Where the journal broke; shown to the operator. */
export interface JournalFault {
	readonly file: string;
	/** Byte offset in the file where an intact group was expected. */
	readonly offset: number;
	readonly expectedSeq: number;
	/** Sequence of the next intact group behind the damage, or null. */
	readonly foundSeq: number | null;
}

/** Thrown if written groups are damaged or missing and later ones exist: reading on would lose records. */
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

/** Thrown for a record that no segment can hold. */
export class JournalRecordTooLargeError extends Error {
	override readonly name = "JournalRecordTooLargeError";
	readonly code = "JOURNAL_RECORD_TOO_LARGE";

	constructor(bytes: number, maxBytes: number) {
		super(`a journal record of ${bytes} bytes passes the ${maxBytes} that one group can hold`);
	}
}

/** Returns true if the process, or the machine, has no free file descriptor. The condition may pass. */
export function isOutOfDescriptors(error: unknown): boolean {
	const { code } = error as NodeJS.ErrnoException;
	return code === "EMFILE" || code === "ENFILE";
}
