/**
 * What the chain proxy asks of the budgets beside holds: the credits of a rolling day, answers that are kept under an
 * idempotency key, and the audit of sends.
 */
import type { StoredAnswerPart } from "../journal/records.ts";
import type { Caller } from "./port.ts";

/** Credits of an account in the last 24 hours, over all its keys, networks and nodes. Counted, so what is under way may pass it. */
export interface CreditWindow {
	/**
	 * Counts a request in with its worst case. Throws (or rejects with) RATE_LIMIT_EXCEEDED where what was used, what
	 * others under way may use and `worstCredits` together pass the limit; nothing is counted then. The error has all that
	 * the answer needs: `customMessage`, X-RateLimit-Limit, -Remaining and -Reset in credits, Retry-After, the entry of the
	 * log of exceeded limits. A promise only where this node has to read the account first.
	 */
	take(caller: Caller, request: CreditRequest): CreditTake | Promise<CreditTake>;
}

export interface CreditRequest {
	/** Whole credits. */
	readonly worstCredits: number;
	readonly limitCredits: number;
	/** What the log of exceeded limits names: `crypto-rpc/<network>`. */
	readonly subject: string;
}

export interface CreditTake {
	/**
	 * Puts the real credits in the place of the worst case; the first call counts, later ones do nothing. Call it in the
	 * turn of the post; with 0 where nothing was posted.
	 */
	settle(credits: number): void;
}

/** Answers under idempotency keys, 24 hours long, for each account together. */
export interface IdempotencyStore {
	/**
	 * Looks up what became of the request that has this key, and keeps others with it out while this one runs. One trip to
	 * the store. `fingerprint` is the lower-case hex sha256 of what the key stands for. Rejects with SERVICE_UNAVAILABLE
	 * where the store cannot be asked.
	 */
	claim(caller: Caller, key: string, fingerprint: string): Promise<IdempotencyClaim>;
}

export type IdempotencyClaim =
	/** It was answered: this is the answer. */
	| { readonly kind: "replay"; readonly answer: StoredAnswer }
	/** The key stands for something else. */
	| { readonly kind: "reused" }
	/** Another request with the key is under way. */
	| { readonly kind: "running" }
	/** The account has as many keys as are kept of one. */
	| { readonly kind: "full" }
	/** It is this one's to run. Its ticket must end: by a post with the prepared answer, `keepUnknown` or `release`. */
	| { readonly kind: "fresh"; readonly ticket: IdempotencyTicket }
	/** An earlier try ended without a known outcome; `note` is what it left. Else as `fresh`. */
	| { readonly kind: "unknown"; readonly note: string; readonly ticket: IdempotencyTicket };

export interface StoredAnswer {
	readonly status: number;
	/** At most 8 MiB are kept. */
	readonly body: Uint8Array;
	/** Text of the route's own; at most 16 KiB. */
	readonly note: string;
}

/** An answer that is ready to be kept: hand it to the post (`PostInput.kept`). Both become durable as one record. */
export interface PreparedAnswer {
	readonly part: StoredAnswerPart;
	/** Told by the hold that took it into its post. */
	posted(): void;
}

export interface IdempotencyTicket {
	/**
	 * Makes an answer ready to be kept with its post. One above 256 KiB is written to a file first (a promise). null: it is
	 * above 8 MiB and is not kept; a later request with the key runs again.
	 */
	prepare(answer: StoredAnswer): PreparedAnswer | null | Promise<PreparedAnswer | null>;
	/**
	 * Says, before something goes out whose effect cannot be taken back, what the next request with the key is to be told if
	 * nothing more is heard of this one: as by `keepUnknown`, which a kill of the process would leave out. The request goes
	 * on; its answer takes the place of the note, and `release` takes the note back. Resolves when it is durable.
	 */
	foresee(note: string): Promise<void>;
	/** Nobody knows what became of it: the next request with the key gets `note`. Resolves when that is durable. */
	keepUnknown(note: string): Promise<void>;
	/** Ends the ticket without an answer; does nothing after a post with the prepared answer, or `keepUnknown`. Call it in a `finally`. */
	release(): void;
}

/** The record of what was sent to a chain, by hashes; never a payload. */
export interface SendAudit {
	/** Durable when it resolves: only then may anything be forwarded. Resolves at once where there are no rows. */
	begin(rows: readonly SendRow[]): Promise<void>;
	/**
	 * What came of it: `accepted`, an error's code, or what else is known (short text). The first outcome stands. A send
	 * without one is unknown. `txHash` where only the answer told it; null leaves what is there.
	 */
	end(requestId: string, item: number, outcome: string, txHash: string | null): void;
}

export interface SendRow {
	readonly requestId: string;
	/** Place in the batch; 0 for a single call. */
	readonly item: number;
	readonly caller: Caller;
	readonly network: string;
	readonly method: string;
	/** keccak256 of the raw bytes as 0x + 64 lower-case hex; null where the method has no raw transaction. */
	readonly rawHash: string | null;
	/** Hash under which the chain knows it; null where only the answer tells it. */
	readonly txHash: string | null;
}
