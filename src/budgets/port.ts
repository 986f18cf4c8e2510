/**
 * The interface of budgets that the pipeline uses: find a caller, hold, post, void. Hold and post run in one
 * synchronous block where the node's lease suffices, and cover everything or nothing.
 */

import type { TokenUsage } from "../journal/records.ts";
import type { Nano, PicoPrice } from "../ledger/nano.ts";
import type { Caller } from "./caller.ts";

import type { PreparedAnswer } from "./rpc-port.ts";

/** The tokens that an answer used. Routes import the type from this file, never from the journal. */
export type { TokenUsage } from "../journal/records.ts";
export type * from "./caller.ts";
export type * from "./rpc-port.ts";

export interface RateLimit {
	readonly requestsPerMinute: number;
	/** Absent if token limits do not apply. */
	readonly tokensPerMinute?: number;
}

/** State of the minute window after one request was taken; the x-ratelimit headers show it. */
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

/** The inputs of a chat request's worst case (docs/money.md, ceiling). Prices are in pico-USD per token. */
export interface CeilingRequest {
	/** Upper bound of prompt tokens, computed cheaply from the number of bytes. */
	readonly promptTokensBound: number;
	/** Returns the exact count plus 10 %; called only when the bound does not fit. */
	countPromptTokens(): Promise<number>;
	/** Lower bound of prompt tokens, from which the rest of the context is computed. */
	readonly promptTokensAtLeast: number;
	/** The maximum that the caller set; null if it set none. */
	readonly callerMaxTokens: number | null;
	readonly modelMaxTokens: number;
	readonly contextTokens: number;
	readonly choices: number;
	/** The highest price that a prompt token, or an output token, of this request can have. */
	readonly inputPrice: PicoPrice;
	readonly outputPrice: PicoPrice;
	/** The part of the price that does not depend on tokens. Absent: 0. */
	readonly fixedNano?: Nano;
}

export interface CeilingResult {
	readonly hold: Hold;
	/** The lowered output maximum per choice, which must be sent upstream; null if nothing was lowered. */
	readonly spliceMaxTokens: number | null;
	/** Most tokens that one choice may produce: the ceiling of the stream guard. */
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
	/** HTTP status that the caller gets; 499 where the caller has disconnected. */
	readonly status: number;
	readonly upstream: string | null;
	/** An answer to store under an idempotency key. It becomes durable together with the post, or not at all. */
	readonly storedAnswer?: PreparedAnswer | null;
}

export interface Posted {
	readonly priceNano: Nano;
	/** Split of the price; bundled credit counts as usd. */
	readonly usd: Nano;
	readonly diem: Nano;
	/**
	 * The amount that this node lacked. The store takes it from free money when it applies the post; the operator bears
	 * the rest.
	 */
	readonly owed: Nano;
	/**
	 * The part of `owed` that the account can probably pay, by the last known totals; shown to the caller. Bundled
	 * credit counts as usd.
	 */
	readonly expected: { readonly usd: Nano; readonly diem: Nano };
	/** The amount that the operator bears in any case. */
	readonly overrun: Nano;
	/** Resolves when the post is durable. The answer may go out only then. */
	readonly durable: Promise<void>;
}

/**
 * A hold lives exactly as long as its request. The first call of `post` or `void` ends it; later calls do nothing
 * (`post` then returns null).
 */
export interface Hold {
	readonly amount: Nano;
	/** Settles synchronously in memory and in the journal's buffer; `durable` of the result resolves later. */
	post(input: PostInput): Posted | null;
	void(): void;
}

/** The facts about a request that every hold records. */
export interface HoldContext {
	readonly requestId: string;
	readonly route: string;
	readonly model: string | null;
	readonly admittedAtMs: number;
	/** The caller's account, if another account pays. The budgets set it themselves. */
	readonly callerId?: string;
}

/** Why a key has no caller. */
export type KeyAbsence = "unknown" | "revoked" | "expired";

export interface Budgets {
	/**
	 * Returns the caller of a key's sha256 (lower-case hex): at once when cached, else after one coalesced store read.
	 * null: unknown, revoked or expired. Unknown hashes are remembered for 1 s.
	 */
	caller(hash: string): Caller | null | Promise<Caller | null>;
	/** Tells why `caller` has just returned null for a hash. */
	absence(hash: string): KeyAbsence;
	/**
	 * Returns the wallet of this identity, whether it is known or not. Holds of a wallet without money are refused with
	 * PAYMENT_REQUIRED. Synchronous if the wallet's accounts are cached.
	 */
	wallet(identity: string): Caller | Promise<Caller>;
	/**
	 * Counts one request in the minute window of (account, subject), or throws RATE_LIMIT_EXCEEDED. Returns a promise
	 * only if nodes share the window and the store must be called; it rejects with the same error.
	 */
	countRequest(caller: Caller, subject: string, limit: RateLimit, promptTokensEstimate: number): RateState | Promise<RateState>;
	/**
	 * Returns the state of that window, as this node knows it, for a request that takes nothing from it. A null subject
	 * means an unused window.
	 */
	rateState(caller: Caller, subject: string | null, limit: RateLimit): RateState;
	/**
	 * Replaces the token estimate of `countRequest` by the real number. `counted` is the result of `countRequest`: it keeps
	 * a request that ends in a later window from lowering that window's count.
	 */
	settleTokens(caller: Caller, subject: string, promptTokensEstimate: number, tokens: number, counted?: RateState): void;
	/** Holds a fixed worst case. Throws 402. Price 0 gives a hold of 0, which still posts its record. */
	hold(caller: Caller, context: HoldContext, worstNano: Nano): Hold | Promise<Hold>;
	/** Computes the output ceiling and holds its price. Throws 402 with the number of tokens that would fit. */
	holdCeiling(caller: Caller, context: HoldContext, request: CeilingRequest): CeilingResult | Promise<CeilingResult>;
	/** Throws RATE_LIMIT_EXCEEDED while the failure guard blocks the subject. */
	checkGuard(subject: string): void;
	/** Counts a failure (400, 401, 403, 404, 413, 415, 422) of a key, or of an address where unauthenticated. */
	countFailure(subject: string): void;
	/** Gauge of running requests that have a price; 0 at idle. */
	readonly holdsOpen: number;
}
