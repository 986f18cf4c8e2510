/**
 * Budgets as the pipeline sees them: who calls, what they may still spend, hold, post, void.
 * The rules: hold and post run in one synchronous block where the node's lease suffices; all or none.
 */

import type { TokenUsage } from "../journal/records.ts";
import type { Nano, PicoPrice } from "../ledger/nano.ts";
import type { Account, ApiKey } from "../store/port.ts";
import type { PreparedAnswer } from "./rpc-port.ts";

/** What an answer used: routes take the type from here, never from the journal. */
export type { TokenUsage } from "../journal/records.ts";
export type * from "./rpc-port.ts";

/** A known caller: key and account as cached on this node. The same object for all requests of the key. */
export interface Caller {
	/** Of a wallet: what stands for one. Its id is the wallet's name, and no record has it. */
	readonly key: ApiKey;
	readonly account: Account;
	/** Identity of the wallet that signed in, such as `eip155:8453:0x...`; null where a key calls. */
	readonly wallet: string | null;
	/** Text of the balance headers: decimal text, what the store holds minus own posts it has not applied. */
	balances(): { readonly usd: Nano; readonly diem: Nano };
}

export interface RateLimit {
	readonly requestsPerMinute: number;
	/** Absent where tokens do not apply. */
	readonly tokensPerMinute?: number;
}

/** State of the minute window after taking one request: for the x-ratelimit headers. */
export interface RateState {
	readonly limitRequests: number;
	readonly remainingRequests: number;
	/** Unix seconds. */
	readonly resetAtSeconds: number;
	readonly limitTokens?: number;
	readonly remainingTokens?: number;
	/** Seconds until the window ends. */
	readonly resetInSeconds: number;
}

/** A chat request's worst case, as docs/money.md (ceiling) sees it. Prices in pico-USD per token. */
export interface CeilingRequest {
	/** Upper bound of prompt tokens: cheap, from bytes. */
	readonly promptTokensBound: number;
	/** Exact count (+10 %), asked only when the bound does not fit. */
	countPromptTokens(): Promise<number>;
	/** Lower bound of prompt tokens, for the context's remainder. */
	readonly promptTokensAtLeast: number;
	/** The caller's own maximum, where set. */
	readonly callerMaxTokens: number | null;
	readonly modelMaxTokens: number;
	readonly contextTokens: number;
	readonly choices: number;
	/** The dearest price a prompt token of this request can have, and an output token. */
	readonly inputPrice: PicoPrice;
	readonly outputPrice: PicoPrice;
	/** What the request costs beside its tokens. Absent: nothing. */
	readonly fixedNano?: Nano;
}

export interface CeilingResult {
	readonly hold: Hold;
	/** Set where the output maximum was lowered and must be sent upstream (per choice). */
	readonly spliceMaxTokens: number | null;
	/** What one choice may produce at most: the ceiling of the stream guard. */
	readonly maxTokens: number;
}

export interface ChargeLine {
	readonly sku: string;
	readonly units: number;
	readonly picoPrice: PicoPrice;
}

export interface PostInput {
	readonly lines: readonly ChargeLine[];
	readonly usage: TokenUsage | null;
	/** HTTP status that the caller gets; 499 where it has left. */
	readonly status: number;
	readonly upstream: string | null;
	/** An answer that is kept under an idempotency key: durable with the post, or neither is. */
	readonly kept?: PreparedAnswer | null;
}

export interface Posted {
	readonly priceNano: Nano;
	/** Split of the price: bundled counts as usd. */
	readonly usd: Nano;
	readonly diem: Nano;
	/** What was missing on this node: the store takes it from free money as it books the post, or the operator bears it. */
	readonly owed: Nano;
	/** What of `owed` the account should be able to pay, as last heard: for what the caller is told. Bundled counts as usd. */
	readonly expected: { readonly usd: Nano; readonly diem: Nano };
	/** What the operator bears in any case. */
	readonly overrun: Nano;
	/** Resolves when the post is durable; the answer may go out only then. */
	readonly durable: Promise<void>;
}

/**
 * A hold lives exactly as long as its request. The first of `post` and `void` ends it; later calls do
 * nothing (`post` then returns null).
 */
export interface Hold {
	readonly amount: Nano;
	/** Settles synchronously (memory and journal buffer); durability is in the returned promise. */
	post(input: PostInput): Posted | null;
	void(): void;
}

/** What every hold needs to know of its request. */
export interface HoldContext {
	readonly requestId: string;
	readonly route: string;
	readonly model: string | null;
	readonly admittedAtMs: number;
	/** The caller's account, where another one pays: set by the budgets themselves. */
	readonly callerId?: string;
}

export interface Budgets {
	/**
	 * The caller behind a key's sha256 (lower-case hex): synchronous when cached, else one coalesced store
	 * read. null: unknown, revoked or expired. Unknown hashes are remembered for 1 s.
	 */
	caller(hash: string): Caller | null | Promise<Caller | null>;
	/** True for a key that is known here and whose time is over. */
	isExpired(hash: string): boolean;
	/**
	 * The wallet of this identity, known or not: without money its holds are refused with PAYMENT_REQUIRED. Synchronous
	 * where its accounts are cached.
	 */
	wallet(identity: string): Caller | Promise<Caller>;
	/**
	 * Takes one request of the minute window of (account, subject), or throws RATE_LIMIT_EXCEEDED. A promise only where
	 * nodes share the window and the store has to be asked; it rejects with the same.
	 */
	takeRequest(caller: Caller, subject: string, limit: RateLimit, promptTokensEstimate: number): RateState | Promise<RateState>;
	/** What is told of that window to a request that took nothing of it: as this node knows it. null: a window that is not used. */
	rateState(caller: Caller, subject: string | null, limit: RateLimit): RateState;
	/**
	 * Settles the tokens estimate of `takeRequest` to the real number. `taken` is what `takeRequest` gave: with
	 * it a request that ends in a later window does not lower that window's count.
	 */
	settleTokens(caller: Caller, subject: string, promptTokensEstimate: number, tokens: number, taken?: RateState): void;
	/** Holds a fixed worst case. Throws 402. Price 0 gives a hold of 0 that still posts its record. */
	hold(caller: Caller, context: HoldContext, worstNano: Nano): Hold | Promise<Hold>;
	/** The output ceiling and its hold. Throws 402 (with the number that would fit). */
	holdCeiling(caller: Caller, context: HoldContext, request: CeilingRequest): CeilingResult | Promise<CeilingResult>;
	/** Failure guard: throws RATE_LIMIT_EXCEEDED while the subject is blocked. */
	checkGuard(subject: string): void;
	/** Counts a failure (400, 401, 403, 404, 413, 415, 422) of a key, or of an address where unauthenticated. */
	countFailure(subject: string): void;
	/** Gauge: running requests with a price. 0 at idle. */
	readonly holdsOpen: number;
}
