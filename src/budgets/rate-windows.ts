import { MINUTE_MS } from "../store/minutes.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { RateLimit, RateState } from "./port.ts";
import { rateLimitExceeded, rateStateOf, unusedRateState } from "./rate-state.ts";
import { WindowTable } from "./window-table.ts";

interface RateWindow {
	readonly accountId: string;
	readonly subject: string;
	/** Monotonic instant of its end. */
	readonly endsAt: number;
	/** Unix seconds of its end, for the headers. */
	readonly resetAtSeconds: number;
	requests: number;
	tokens: number;
}

/**
 * Requests and tokens per minute: fixed windows of 60 s that begin with their first request, one for each (account,
 * subject). Requests are taken and never returned. Tokens are counted, and running requests may pass their limit.
 * Bounded: past `maxWindows` the oldest window is forgotten.
 */
export class RateWindows {
	readonly #clock: Clock;
	readonly #windows: WindowTable<RateWindow>;

	constructor(clock: Clock, maxWindows: number) {
		this.#clock = clock;
		this.#windows = new WindowTable(maxWindows);
	}

	/** Takes one request and counts its prompt estimate. Throws RATE_LIMIT_EXCEEDED, and then takes nothing. */
	take(accountId: string, subject: string, limit: RateLimit, promptTokensEstimate: number): RateState {
		const now = this.#clock.monotonicMs();
		const window = this.#windows.find(accountId, subject, now) ?? this.#open(accountId, subject, now);
		const { requestsPerMinute, tokensPerMinute } = limit;
		const tokensOut = tokensPerMinute !== undefined && window.tokens >= tokensPerMinute;
		if (tokensOut || window.requests >= requestsPerMinute)
			throw rateLimitExceeded(rateStateOf(window, window, limit, now), tokensOut, subject);
		window.requests++;
		window.tokens += promptTokensEstimate;
		return rateStateOf(window, window, limit, now);
	}

	/** Returns the state of a window for a request that takes nothing. A null subject means an unused window. */
	look(accountId: string, subject: string | null, limit: RateLimit): RateState {
		const now = this.#clock.monotonicMs();
		const window = subject === null ? undefined : this.#windows.find(accountId, subject, now);
		return window === undefined ? unusedRateState(limit, this.#clock) : rateStateOf(window, window, limit, now);
	}

	/**
	 * Replaces the estimate by the real tokens. If the window of the estimate (`taken`) has ended, only tokens
	 * beyond the estimate count, in the current window.
	 */
	settle(accountId: string, subject: string, promptTokensEstimate: number, tokens: number, counted?: RateState): void {
		const window = this.#windows.find(accountId, subject, this.#clock.monotonicMs());
		if (window === undefined) return;
		const same = counted === undefined || counted.resetAtSeconds === window.resetAtSeconds;
		const more = tokens - promptTokensEstimate;
		window.tokens = Math.max(0, window.tokens + (same ? more : Math.max(0, more)));
	}

	get size(): number {
		return this.#windows.size;
	}

	#open(accountId: string, subject: string, now: number): RateWindow {
		const resetAtSeconds = Math.ceil((this.#clock.wallMs() + MINUTE_MS) / 1000);
		const window = { accountId, subject, endsAt: now + MINUTE_MS, resetAtSeconds, requests: 0, tokens: 0 };
		this.#windows.add(window, now);
		return window;
	}
}
