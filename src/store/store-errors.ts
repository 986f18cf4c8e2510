/** Errors of the store as they reach the event loop. */
import { MoneyError } from "../ledger/nano.ts";
import { AdminError, isAdminErrorCode } from "./admin/errors.ts";
import type { SentError } from "./thread-protocol.ts";

/** Thrown where the store cannot answer now: its disk is full, it is locked, or it is closed. Nothing was changed. */
export class StoreUnavailableError extends Error {
	override readonly name = "StoreUnavailableError";
	readonly code = "STORE_UNAVAILABLE";
}

/**
 * The error that stopped the store thread, or a call that it could not understand. `code` names the cause, for
 * example JOURNAL_CORRUPT.
 */
export class StoreThreadError extends Error {
	override readonly name = "StoreThreadError";
	readonly code: string;

	constructor(message: string, code = "STORE_THREAD_FAILED") {
		super(message);
		this.code = code;
	}
}

/** Returns the error behind one that a thread sent. */
export function errorOf(sent: SentError): Error {
	if (sent.name === "StoreUnavailableError") return new StoreUnavailableError(sent.message);
	if (sent.name === "MoneyError") return new MoneyError(sent.message);
	if (sent.name === "AdminError" && isAdminErrorCode(sent.code)) return new AdminError(sent.code, sent.message);
	return new StoreThreadError(sent.message, sent.code);
}
