/**
 * What a node writes into its journal. Each record is one JSON object on the wire; `t` names its kind.
 * Records of one turn of the event loop are one group: one write, one CRC, one sequence number.
 */
import type { Nano, PicoPrice } from "../ledger/nano.ts";
import type { Histogram } from "../telemetry/histogram.ts";

/** Where money of an account comes from, in spending order. */
export type MoneySource = "diem" | "bundled" | "usd";

/** One sku of a charge. `from` holds only parts above 0; the sum of `from`, `owed` and `overrun` is the line's price. */
export interface PostLine {
	/** For example `llama-3.2-3b-llm-input-mtoken`. */
	readonly sku: string;
	/** Whole units of the price: tokens, characters, credits. */
	readonly units: number;
	/** Frozen at the hold: pico-USD per unit. */
	readonly picoPrice: PicoPrice;
	readonly from: readonly { readonly source: MoneySource; readonly amount: Nano }[];
	/** What the node had no money for: the store takes it from free money as it books the post, or it is overrun. */
	readonly owed?: Nano;
	/** What no money may be taken for: borne by the operator. */
	readonly overrun: Nano;
}

/** How what is owed may be paid. */
export interface OwedTerms {
	/** What the node has leased beside this post, as it knows: not for this post. */
	readonly kept: { readonly diem: number; readonly bundled: number; readonly usd: number };
	/** The most that the caps of the key let it take, bundled credit and USD together. */
	readonly most: { readonly diem: number; readonly usd: number };
}

export interface TokenUsage {
	readonly promptTokens: number;
	readonly completionTokens: number;
	readonly cachedTokens: number;
	readonly cacheWriteTokens: number;
	readonly reasoningTokens: number;
	/** True where we counted because the upstream gave no usage. */
	readonly counted: boolean;
}

/** The one post record of an answer of a metered route, also at price 0 (then `lines` is empty of parts). */
export interface PostRecord {
	readonly t: "post";
	/** X-Request-ID, 32 characters. */
	readonly id: string;
	readonly accountId: string;
	/** Who called, where another account paid: credits of the chain proxy are counted for the caller. */
	readonly callerId?: string;
	readonly keyId: string | null;
	/** UTC day number (days since 1970-01-01) of the admission: the epoch of diem and the window of caps. */
	readonly day: number;
	readonly admittedAtMs: number;
	readonly doneAtMs: number;
	/** The endpoint's short name, for example `chat`. */
	readonly route: string;
	readonly model: string | null;
	readonly upstream: string | null;
	/** HTTP status that the caller got; 499 where the caller had left. */
	readonly status: number;
	readonly holdNano: Nano;
	/** Sum of the lines. */
	readonly priceNano: Nano;
	readonly lines: readonly PostLine[];
	/** There where a line owes something. */
	readonly owing?: OwedTerms;
	/** The limits of the key are leased: what the post takes of them goes from the node's lease of its day. */
	readonly capped?: true;
	readonly usage: TokenUsage | null;
	/** The answer, where it is kept under an idempotency key. */
	readonly kept?: StoredAnswerPart;
}

/** An answer that is kept under an idempotency key: a part of its post, so that both are there or neither. */
export interface StoredAnswerPart {
	/** Whose key it is, where that may be another than who paid; left out: the account of the post. */
	readonly accountId?: string;
	readonly key: string;
	/** What the key stands for: lower-case hex sha256. */
	readonly fingerprint: string;
	/** The claim that ends with it. */
	readonly claim: string;
	readonly expiresAtMs: number;
	readonly status: number;
	/** Text of the route's own. */
	readonly note: string;
	/** Length and CRC32 of the body. */
	readonly bytes: number;
	readonly crc32: number;
	/** The body as base64; null where it stands in a file. */
	readonly body: string | null;
	/** Its name in DATA/idempotency. */
	readonly file: string | null;
}

/** Nobody knows what became of a request with an idempotency key: the next one with it is told `note`. */
export interface UnknownOutcomeRecord {
	readonly t: "unknown-outcome";
	readonly accountId: string;
	readonly key: string;
	readonly fingerprint: string;
	readonly claim: string;
	/** False: the request goes on; its answer, or another record, takes the place of this one. */
	readonly ends: boolean;
	readonly expiresAtMs: number;
	readonly note: string;
}

/** A request that may have ended without a known outcome has failed for certain: its key stands for nothing. */
export interface OutcomeKnownRecord {
	readonly t: "outcome-known";
	readonly accountId: string;
	readonly key: string;
	readonly fingerprint: string;
}

/** Something is about to be sent to a chain: durable before it is forwarded. Hashes only, never what is sent. */
export interface SendRecord {
	readonly t: "send";
	readonly requestId: string;
	/** Place in the batch. */
	readonly item: number;
	readonly accountId: string;
	readonly keyId: string | null;
	readonly network: string;
	readonly method: string;
	readonly rawHash: string | null;
	readonly txHash: string | null;
	readonly atMs: number;
}

/** What came of a send. The first one stands. */
export interface SendEndRecord {
	readonly t: "send-end";
	readonly requestId: string;
	readonly item: number;
	/** `accepted`, an error's code, or what else is known. */
	readonly outcome: string;
	readonly txHash: string | null;
	readonly atMs: number;
}

/** A key was used: `lastUsedAt`, at most once a minute per key. */
export interface TouchRecord {
	readonly t: "touch";
	readonly keyId: string;
	readonly atMs: number;
}

export type JournalRecord = PostRecord | TouchRecord | UnknownOutcomeRecord | OutcomeKnownRecord | SendRecord | SendEndRecord;

export type Durability = "process" | "power" | "store";

/** Why a node takes no new work (docs/money.md). */
export interface WorkRefusal {
	readonly reason: "segment" | "disk" | "backlog" | "grace" | "term" | "feed" | "closing";
	readonly message: string;
	readonly retryAfterSeconds: number;
}

/** The node's append file, as the rest of the program sees it. */
export interface Journal {
	/**
	 * Appends a record to this turn's group. Resolves when the record is durable under the configured mode.
	 * A failed write ends the process: nothing is ever answered over a broken journal.
	 */
	append(record: JournalRecord): Promise<void>;
	/** Synchronous: null where new work may be taken. */
	workRefusal(): WorkRefusal | null;
	/** Sequence number of the last group that was written (or is being written in this turn). */
	readonly writtenSeq: number;
	/** Sequence number that the store has applied, as last heard. */
	readonly appliedSeq: number;
	/** Bytes written and not yet applied. */
	readonly backlogBytes: number;
	/** Seconds of the syncs to the disk since the start. */
	readonly syncSeconds?: Histogram | undefined;
	/** For how long this node may still spend what it has leased, in milliseconds; null where its leases have no term. */
	readonly termLeftMs?: number | null;
	/** Writes what is gathered, fdatasyncs and closes. */
	close(): Promise<void>;
}
