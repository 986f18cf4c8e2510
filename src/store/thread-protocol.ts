/** Messages between the event loop and the store thread. Each message of the loop names the sequence written when it was sent. */
import type { JournalStart, LostTail, StoreProgress } from "../journal/index.ts";
import type { CreditBucket, CreditQuery, IdempotencyBatch, StoredClaim } from "./idempotency.ts";
import type { RetainedLeases } from "./lease-repository.ts";
import type {
	Account,
	AcquireRequest,
	AcquireResult,
	AdminInput,
	AdminOperation,
	BudgetState,
	KeyLoad,
	MinuteExchange,
	RetainedCap,
	StoreChange,
} from "./port.ts";
import type { Instant, TermTimes } from "./postgres/term-times.ts";

/** An operation of `admin/operations.ts` with its argument. */
export type AdminRequest = {
	[Name in AdminOperation]: { readonly operation: Name; readonly input: AdminInput<Name> };
}[AdminOperation];

/** What a node keeps of its leases on an account; `caps`: see `StorePort.giveBack`. */
export interface ReturnRequest {
	readonly accountId: string;
	readonly kept: readonly RetainedLeases[];
	readonly caps?: readonly RetainedCap[];
}

/** What the thread can be asked; each name with its arguments and its answer. */
export interface StoreCalls {
	loadKey: { arguments: { hash: string; day: number }; answer: KeyLoad | null };
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
	readonly journalDir: string;
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
	/** Answers `clock`, at once: the event loop's monotonic clock. */
	| { readonly type: "clock"; readonly loopMs: number }
	/** Apply up to `seq`: once, without patience. */
	| { readonly type: "apply"; readonly seq: number }
	| { readonly type: "call"; readonly id: number; readonly seq: number; readonly call: StoreCall }
	/** Answered beside the others, in no order with them. PostgreSQL only. */
	| { readonly type: "minutes"; readonly id: number; readonly exchange: MinuteExchange }
	/** The event loop spends nothing of the ended term's leases any more; what it posted stands up to `seq`. */
	| { readonly type: "renew"; readonly seq: number };

/** What the thread can be told once it is open. */
export type AtWork = Exclude<ToThread, { type: "open" | "clock" }>;

export interface OpenedReport {
	readonly start: JournalStart;
	/** Groups of an earlier boot that were applied now. */
	readonly replayedGroups: number;
	readonly lostTail: LostTail | null;
	/** When the term of this boot was asked for; null on SQLite, where it has no end. */
	readonly beatAt: Instant | null;
}

/** An error on its way between threads: classes do not survive it. */
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
	/** Asks for the event loop's monotonic clock. */
	| { readonly type: "clock" }
	/** A heartbeat that was sent then was good; the epoch is the node's now. */
	| { readonly type: "beat"; readonly sentAt: Instant; readonly epoch: number }
	/** The changes up to then are heard. */
	| { readonly type: "fed"; readonly at: Instant }
	/** The store ended this node's term: nothing of its leases may be spent. Answered by `renew`. */
	| { readonly type: "fenced" }
	/** The thread can do nothing more. */
	| { readonly type: "fatal"; readonly error: SentError };

export function sentError(error: unknown): SentError {
	if (!(error instanceof Error)) return { name: "Error", message: String(error), code: "UNKNOWN" };
	const code = "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN";
	return { name: error.name, message: error.message, code };
}
