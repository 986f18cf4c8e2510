/**
 * The interface of budgets that the chain proxy uses beside holds: credits of a rolling day, answers stored under
 * idempotency keys, and the audit of sends.
 */
import type { StoredAnswerPart } from "../journal/records.ts";
import type { Caller } from "./caller.ts";

/**
 * Credits of an account in the last 24 hours, over all its keys, networks and nodes. Running requests are counted, so
 * their sum may pass the limit.
 */
export interface CreditWindow {
	/**
	 * Counts a request with its worst case. Throws, or rejects with, RATE_LIMIT_EXCEEDED if used credits, credits of
	 * running requests and `worstCredits` together pass the limit; nothing is counted then. The error holds all that
	 * the answer needs: `customMessage`, X-RateLimit-Limit, -Remaining and -Reset in credits, Retry-After, and the
	 * entry for the log of exceeded limits. Returns a promise only if this node must read the account first.
	 */
	take(caller: Caller, request: CreditRequest): CreditTake | Promise<CreditTake>;
}

export interface CreditRequest {
	/** Whole credits. */
	readonly worstCredits: number;
	readonly limitCredits: number;
	/** The subject in the log of exceeded limits: `crypto-rpc/<network>`. */
	readonly subject: string;
}

export interface CreditTake {
	/**
	 * Replaces the worst case by the real credits. The first call counts, later calls do nothing. Call it in the turn
	 * of the post; pass 0 if nothing was posted.
	 */
	settle(credits: number): void;
}

/** Answers under idempotency keys, stored for 24 hours and shared by all keys of an account. */
export interface IdempotencyStore {
	/**
	 * Looks up the outcome of the request with this key, and blocks other requests with it while this one runs. It
	 * makes one round trip to the store. `fingerprint` is the lower-case hex sha256 of what the key names. Rejects with
	 * SERVICE_UNAVAILABLE if the store cannot be reached.
	 */
	claim(caller: Caller, key: string, fingerprint: string): Promise<IdempotencyClaim>;
}

export type IdempotencyClaim =
	/** The request was answered; `answer` is that answer. */
	| { readonly kind: "replay"; readonly answer: StoredAnswer }
	/** The key was used for a different request. */
	| { readonly kind: "reused" }
	/** Another request with the key is running. */
	| { readonly kind: "running" }
	/** The account has as many keys as the limit allows. */
	| { readonly kind: "full" }
	/** This request may run. Its ticket must end: by a post with the prepared answer, `keepUnknown` or `release`. */
	| { readonly kind: "fresh"; readonly ticket: IdempotencyTicket }
	/** An earlier attempt ended without a known outcome and left `note`. Otherwise as `fresh`. */
	| { readonly kind: "unknown"; readonly note: string; readonly ticket: IdempotencyTicket };

export interface StoredAnswer {
	readonly status: number;
	/** Bodies of up to 8 MiB are stored. */
	readonly body: Uint8Array;
	/** Text that the route chooses; at most 16 KiB. */
	readonly note: string;
}

/** An answer that is ready to be stored. Hand it to the post (`PostInput.kept`): both become durable as one record. */
export interface PreparedAnswer {
	readonly part: StoredAnswerPart;
	/** The hold calls this when it has put the answer into its post. */
	posted(): void;
}

export interface IdempotencyTicket {
	/**
	 * Prepares an answer for storing with its post. A body above 256 KiB is written to a file first, which returns a
	 * promise. null: the body is above 8 MiB and is not stored; a later request with the key runs again.
	 */
	prepare(answer: StoredAnswer): PreparedAnswer | null | Promise<PreparedAnswer | null>;
	/**
	 * Records the note that the next request with the key gets if this one never reports an outcome. Call it before
	 * something irreversible is sent: a killed process cannot call `keepUnknown`. The request goes on; its answer
	 * replaces the note, and `release` removes it. Resolves when the note is durable.
	 */
	foresee(note: string): Promise<void>;
	/**
	 * Ends the ticket with an unknown outcome: the next request with the key gets `note`. Resolves when that is
	 * durable.
	 */
	keepUnknown(note: string): Promise<void>;
	/**
	 * Ends the ticket without an answer. Does nothing after a post with the prepared answer, or after `keepUnknown`.
	 * Call it in a `finally`.
	 */
	release(): void;
}

/** The record of what was sent to a chain, by hashes; it never contains a payload. */
export interface SendAudit {
	/**
	 * Resolves when the rows are durable: only then may anything be forwarded. Resolves at once if there are no
	 * rows.
	 */
	begin(rows: readonly SendRow[]): Promise<void>;
	/**
	 * Records the outcome: `accepted`, an error code, or other short text. The first outcome is final; a send without
	 * one is unknown. Pass `txHash` where only the answer contained it; null keeps the recorded hash.
	 */
	end(requestId: string, item: number, outcome: string, txHash: string | null): void;
}

export interface SendRow {
	readonly requestId: string;
	/** Index in the batch; 0 for a single call. */
	readonly item: number;
	readonly caller: Caller;
	readonly network: string;
	readonly method: string;
	/** keccak256 of the raw bytes as 0x + 64 lower-case hex; null if the method has no raw transaction. */
	readonly rawHash: string | null;
	/** Hash under which the chain knows the transaction; null if only the answer contains it. */
	readonly txHash: string | null;
}
