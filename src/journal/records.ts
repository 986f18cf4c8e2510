/**
 * The records that a node writes into its journal. Each record is one JSON object; `t` names its kind. Records of one
 * turn of the event loop form one group: one write, one CRC, one sequence number.
 */
import type { Nano, PicoPrice } from "../ledger/nano.ts";
import type { Histogram } from "../telemetry/histogram.ts";

/** Sources of an account's money, in spending order. */
export type MoneySource = "diem" | "bundled" | "usd";

/**
 * One sku of a charge. `from` holds only parts above 0; the sum of `from`, `owed` and `overrun` is the line's price.
 */
export interface PostLine {
	/** For example `llama-3.2-3b-llm-input-mtoken`. */
	readonly sku: string;
	/** Whole units of the price: tokens, characters, credits. */
	readonly units: number;
	/** Price in pico-USD per unit, fixed when the hold was taken. */
	readonly picoPrice: PicoPrice;
	readonly from: readonly { readonly source: MoneySource; readonly amount: Nano }[];
	/**
	 * The amount that the node had no money for: the store takes it from free money when it applies the post, or it
	 * becomes overrun.
	 */
	readonly owed?: Nano;
	/** The amount that no money may be taken for; the operator bears it. */
	readonly overrun: Nano;
}

/** The limits within which an owed amount may be paid. */
export interface OwedTerms {
	/** Leases of the node that are not for this post, as the node knows them. */
	readonly kept: { readonly diem: number; readonly bundled: number; readonly usd: number };
	/** The most that the caps of the key allow; bundled credit and USD together. */
	readonly most: { readonly diem: number; readonly usd: number };
}

export interface TokenUsage {
	readonly promptTokens: number;
	readonly completionTokens: number;
	readonly cachedTokens: number;
	readonly cacheWriteTokens: number;
	readonly reasoningTokens: number;
	/** True if we counted the tokens because the upstream reported no usage. */
	readonly counted: boolean;
}

/** The one post record of a metered route's answer, also at price 0, if the lines have no parts. */
export interface PostRecord {
	readonly t: "post";
	/** X-Request-ID, 32 characters. */
	readonly id: string;
	readonly accountId: string;
	/** The caller's account, if another account paid: credits of the chain proxy are counted for the caller. */
	readonly callerId?: string;
	readonly keyId: string | null;
	/** UTC day number (days since 1970-01-01) of the admission: it fixes the epoch of diem and the window of caps. */
	readonly day: number;
	readonly admittedAtMs: number;
	readonly doneAtMs: number;
	/** The endpoint's short name, for example `chat`. */
	readonly route: string;
	readonly model: string | null;
	readonly upstream: string | null;
	/** HTTP status that the caller got; 499 where the caller had disconnected. */
	readonly status: number;
	readonly holdNano: Nano;
	/** Sum of the lines. */
	readonly priceNano: Nano;
	readonly lines: readonly PostLine[];
	/** Present if a line owes something. */
	readonly owing?: OwedTerms;
	/** The limits of the key are leased: the post's share of them comes from the node's lease of its day. */
	readonly capped?: true;
	readonly usage: TokenUsage | null;
	/** The answer, where it is stored under an idempotency key. */
	readonly kept?: StoredAnswerPart;
}

/** An answer that is stored under an idempotency key. It is a part of its post, so that both exist or neither. */
export interface StoredAnswerPart {
	/** The account that owns the idempotency key, if another one paid; left out: the account of the post. */
	readonly accountId?: string;
	readonly key: string;
	/** What the key names, as lower-case hex sha256. */
	readonly fingerprint: string;
	/** The claim that this answer ends. */
	readonly claim: string;
	readonly expiresAtMs: number;
	readonly status: number;
	/** Text that the route chose. */
	readonly note: string;
	/** Length and CRC32 of the body. */
	readonly bytes: number;
	readonly crc32: number;
	/** The body as base64; null if it is in a file. */
	readonly body: string | null;
	/** Name of the body's file in DATA/idempotency. */
	readonly file: string | null;
}

/** The outcome of a request with an idempotency key is unknown: the next request with the key gets `note`. */
export interface UnknownOutcomeRecord {
	readonly t: "unknown-outcome";
	readonly accountId: string;
	readonly key: string;
	readonly fingerprint: string;
	readonly claim: string;
	/** False: the request goes on; its answer, or another record, replaces this one. */
	readonly ends: boolean;
	readonly expiresAtMs: number;
	readonly note: string;
}

/** A request whose outcome was recorded as unknown has certainly failed: its key is free again. */
export interface OutcomeKnownRecord {
	readonly t: "outcome-known";
	readonly accountId: string;
	readonly key: string;
	readonly fingerprint: string;
}

/**
 * Something is about to be sent to a chain. The record is durable before the call is forwarded, and holds only
 * hashes.
 */
export interface SendRecord {
	readonly t: "send";
	readonly requestId: string;
	/** Index in the batch. */
	readonly item: number;
	readonly accountId: string;
	readonly keyId: string | null;
	readonly network: string;
	readonly method: string;
	readonly rawHash: string | null;
	readonly txHash: string | null;
	readonly atMs: number;
}

/** The outcome of a send. The first one is final. */
export interface SendEndRecord {
	readonly t: "send-end";
	readonly requestId: string;
	readonly item: number;
	/** `accepted`, an error code, or other short text. */
	readonly outcome: string;
	readonly txHash: string | null;
	readonly atMs: number;
}

/** A key was used: updates `lastUsedAt`, at most once a minute per key. */
export interface TouchRecord {
	readonly t: "touch";
	readonly keyId: string;
	readonly atMs: number;
}

export type JournalRecord = PostRecord | TouchRecord | UnknownOutcomeRecord | OutcomeKnownRecord | SendRecord | SendEndRecord;

export type Durability = "process" | "power" | "store";

/** Why a node refuses new work (docs/money.md). */
export interface WorkRefusal {
	readonly reason: "segment" | "disk" | "backlog" | "grace" | "term" | "feed" | "closing";
	readonly message: string;
	readonly retryAfterSeconds: number;
}

/** The node's append-only file, as other modules use it. */
export interface Journal {
	/**
	 * Appends a record to this turn's group. Resolves when the record is durable under the configured mode. A failed
	 * write ends the process: no answer goes out over a broken journal.
	 */
	append(record: JournalRecord): Promise<void>;
	/** Returns null if new work may be accepted. Synchronous. */
	workRefusal(): WorkRefusal | null;
	/** Sequence number of the last group that was written, or that is being written in this turn. */
	readonly writtenSeq: number;
	/** Sequence number that the store has applied, as last reported. */
	readonly appliedSeq: number;
	/** Bytes written and not yet applied. */
	readonly backlogBytes: number;
	/** Durations of the syncs to the disk since the start, in seconds. */
	readonly syncSeconds?: Histogram | undefined;
	/** How long this node may still spend its leases, in milliseconds; null if its leases have no term. */
	readonly termLeftMs?: number | null;
	/** Writes all gathered records, calls fdatasync and closes. */
	close(): Promise<void>;
}
