/**
 * Messages between the event loop and the store thread. Each message of the loop names the sequence written when it
 * was sent.
 */
import type { JournalStart, LostTail, StoreProgress } from "../journal/index.ts";
import type { RetainedLeases } from "./core/lease-split.ts";
import type { Instant, TermTimes } from "./core/term-times.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "./idempotency.ts";
import type { MinuteExchange } from "./minutes.ts";
import type { AdminInput, AdminOperation } from "./port.ts";
import type { Account, AcquireRequest, AcquireResult, BudgetState, KeyLoad, RetainedCap, StoreChange } from "./types.ts";

/** An operation of `admin/operations.ts` with its argument. */
export type AdminRequest = {
	[Name in AdminOperation]: { readonly operation: Name; readonly input: AdminInput<Name> };
}[AdminOperation];

/** What a node retains of its leases on an account; `caps`: see `StorePort.giveBack`. */
export interface ReturnRequest {
	readonly accountId: string;
	readonly retained: readonly RetainedLeases[];
	readonly caps?: readonly RetainedCap[];
}

/** The calls of the thread: each name with its arguments and its answer. */
export interface StoreCalls {
	loadKey: { arguments: { hash: string; day: number }; answer: KeyLoad | "revoked" | null };
	loadAccount: { arguments: { accountId: string }; answer: Account | null };
	acquire: { arguments: AcquireRequest; answer: AcquireResult };
	budgets: { arguments: { accountId: string; day: number }; answer: readonly BudgetState[] };
	giveBack: { arguments: ReturnRequest; answer: AcquireResult };
	idempotency: { arguments: IdempotencyBatch; answer: readonly StoredClaim[] };
	rpcCredits: { arguments: CreditQuery; answer: readonly CreditBucket[] };
	admin: { arguments: AdminRequest; answer: unknown };
	settled: { arguments: null; answer: null };
	close: { arguments: null; answer: null };
}

export type StoreCallName = keyof StoreCalls;
export type StoreCall = { [Name in StoreCallName]: { name: Name; arguments: StoreCalls[Name]["arguments"] } }[StoreCallName];

export interface ThreadOptions {
	readonly dataDir: string;
	readonly synchronous: "NORMAL" | "FULL";
	readonly changesEveryMs: number;
	readonly checkpointEveryMs: number;
	/** How long a call waits for a store that cannot be written. */
	readonly callPatienceMs: number;
	/** The PostgreSQL store with its times; null: SQLite in the data folder. */
	readonly postgres: {
		readonly url: string;
		readonly term: TermTimes;
		readonly startPatienceMs: number;
	} | null;
}

export type ToThread =
	| { readonly type: "open"; readonly options: ThreadOptions }
	/** Answers `clock` at once with the event loop's monotonic clock. */
	| { readonly type: "clock"; readonly loopMs: number }
	/** Apply up to `seq`: once, without waiting for a store in trouble. */
	| { readonly type: "apply"; readonly seq: number }
	| { readonly type: "call"; readonly id: number; readonly seq: number; readonly call: StoreCall }
	/** Answered in parallel with the other messages, in no order with them. PostgreSQL only. */
	| { readonly type: "minutes"; readonly id: number; readonly exchange: MinuteExchange }
	/** The event loop spends nothing of the ended term's leases any more; its posts end at `seq`. */
	| { readonly type: "renew"; readonly seq: number };

/** Messages to an open thread. */
export type WorkMessage = Exclude<ToThread, { type: "open" | "clock" }>;

export interface OpenedReport {
	readonly start: JournalStart;
	/** Groups of an earlier boot that were applied at this start. */
	readonly replayedGroups: number;
	readonly lostTail: LostTail | null;
	/** When the term of this boot was requested; null on SQLite, where leases do not expire. */
	readonly beatAt: Instant | null;
}

/** An error as a message between threads: classes do not survive it. */
export interface SentError {
	readonly name: string;
	readonly message: string;
	readonly code: string;
}

export type FromThread =
	| { readonly type: "opened"; readonly report: OpenedReport }
	| { readonly type: "progress"; readonly progress: StoreProgress; readonly error: string | null }
	| { readonly type: "answer"; readonly id: number; readonly answer: unknown }
	| { readonly type: "refusal"; readonly id: number; readonly error: SentError }
	| { readonly type: "changes"; readonly changes: readonly StoreChange[] }
	/** Requests the event loop's monotonic clock. */
	| { readonly type: "clock" }
	/** A heartbeat sent at that time succeeded; the epoch is the node's current one. */
	| { readonly type: "beat"; readonly sentAt: Instant; readonly epoch: number }
	/** All changes up to that time were sent. */
	| { readonly type: "fed"; readonly at: Instant }
	/** The store ended this node's term: none of its leases may be spent. The answer is `renew`. */
	| { readonly type: "fenced" }
	/** The thread has failed and does nothing more. */
	| { readonly type: "fatal"; readonly error: SentError };

export function sentError(error: unknown): SentError {
	if (!(error instanceof Error)) return { name: "Error", message: String(error), code: "UNKNOWN" };
	const code = "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN";
	return { name: error.name, message: error.message, code };
}
