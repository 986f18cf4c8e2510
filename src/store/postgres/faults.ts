/** Whose fault an error of PostgreSQL is: that of a record, or that of the store. */
import { SQL } from "bun";
import { isOutOfDescriptors, JournalCorruptError } from "../../journal/index.ts";
import { SequenceError } from "../apply.ts";

/** SQLSTATE classes: data exceptions, violated constraints. */
const RECORD_CLASSES = ["22", "23"];

/** The boot was fenced by the store: it has no leases any more, and gets none. */
export class FencedError extends Error {
	override readonly name = "FencedError";

	constructor() {
		super("the store ended this node's term");
	}
}

/** A statement or connection that did not answer in its time. */
export class StoreSilentError extends Error {
	override readonly name = "StoreSilentError";
}

/**
 * True where the record is to blame, false where the store is (down, slow, full, failing over): then the whole batch is
 * tried again. An unforeseen error while records are booked counts as a record's fault, so that it can never hold up
 * the others.
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

/** The server is there and says that the address is wrong: waiting does not help. */
export function isWrongAddress(error: unknown): boolean {
	return error instanceof SQL.PostgresError && WRONG_ADDRESS.includes(error.errno ?? "");
}

/** SQLSTATE of a write that the server's role does not allow. */
const READ_ONLY = "25006";

/** Another connection may lead to a server that takes what this one refuses: the primary of a failover has another address. */
export function wantsNewConnection(error: unknown): boolean {
	return error instanceof StoreSilentError || (error instanceof SQL.PostgresError && error.errno === READ_ONLY);
}

/** It may pass by itself: whoever asked may ask again. */
export function isStoreTrouble(error: unknown): boolean {
	if (error instanceof SQL.PostgresError) return !isRecordFault(error);
	return error instanceof StoreSilentError || error instanceof FencedError || isOutOfDescriptors(error);
}
