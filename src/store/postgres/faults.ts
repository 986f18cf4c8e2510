/** Decides whether an error of PostgreSQL is the fault of a record or of the store. */
import { SQL } from "bun";
import { isOutOfDescriptors, JournalCorruptError } from "../../journal/index.ts";
import { SequenceError } from "../core/batch-applier.ts";
import { FencedError, StoreSilentError } from "../core/store-faults.ts";

/** SQLSTATE classes: data exceptions, violated constraints. */
const RECORD_CLASSES = ["22", "23"];

/**
 * Returns true where the record is at fault, false where the store is (down, slow, full, failing over): then the
 * whole batch is tried again. An unforeseen error while records are applied counts as a record's fault, so that it
 * can never hold up the others.
 */
export function isRecordFault(error: unknown): boolean {
	if (error instanceof SQL.PostgresError) {
		return RECORD_CLASSES.some((prefix) => error.errno?.startsWith(prefix) === true);
	}
	if (isOutOfDescriptors(error)) return false;
	return !(error instanceof StoreSilentError || error instanceof SequenceError || error instanceof JournalCorruptError);
}

/** SQLSTATE: no such database, no such role, a wrong password, a role that may not connect from here. */
const WRONG_ADDRESS = ["3D000", "28000", "28P01"];

/** Returns true where the server answered that the address is wrong: waiting does not help. */
export function isWrongAddress(error: unknown): boolean {
	return error instanceof SQL.PostgresError && WRONG_ADDRESS.includes(error.errno ?? "");
}

/** SQLSTATE of a write that the server's role does not allow. */
const READ_ONLY = "25006";

/**
 * Returns true where another connection may reach a server that accepts what this one refuses: after a failover the
 * primary has another address.
 */
export function wantsNewConnection(error: unknown): boolean {
	return error instanceof StoreSilentError || (error instanceof SQL.PostgresError && error.errno === READ_ONLY);
}

/** Returns true for trouble that may pass by itself: the caller may try again. */
export function isStoreTrouble(error: unknown): boolean {
	if (error instanceof SQL.PostgresError) return !isRecordFault(error);
	return error instanceof StoreSilentError || error instanceof FencedError || isOutOfDescriptors(error);
}
