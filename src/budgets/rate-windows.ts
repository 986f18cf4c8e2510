import { ApiError } from "../errors/index.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { RateLimit, RateState } from "./port.ts";

const WINDOW_MS = 60_000;

interface RateWindow {
	/** Monotonic instant of its end. */
	readonly endsAt: number;
	/** Unix seconds of its end, for the headers. */
	readonly resetAtSeconds: number;
	requests: number;
	tokens: number;
}

/**
 * Requests and tokens per minute: fixed windows of 60 s that begin with their first request, one for each
 * (account, subject). Requests are taken and never given back; tokens are counted, and may be passed by what is
 * under way. Bounded: past `maxWindows` the oldest window is forgotten.
 */
export class RateWindows {
	readonly #clock: Clock;
	readonly #maxWindows: number;
	/** In order of their ends: all last equally long, and one that begins anew moves to the back. */
	readonly #windows = new Map<string, RateWindow>();

	constructor(clock: Clock, maxWindows: number) {
		this.#clock = clock;
		this.#maxWindows = maxWindows;
	}

	/** Takes one request and counts its prompt's estimate. Throws RATE_LIMIT_EXCEEDED and then takes nothing. */
	take(accountId: string, subject: string, limit: RateLimit, promptTokensEstimate: number): RateState {
		const now = this.#clock.monotonic();
		const window = this.#window(`${accountId}\n${subject}`, now);
		const { requestsPerMinute, tokensPerMinute } = limit;
		const tokensOut = tokensPerMinute !== undefined && window.tokens >= tokensPerMinute;
		if (tokensOut || window.requests >= requestsPerMinute) throw exceeded(stateOf(window, limit, now), tokensOut);
		window.requests++;
		window.tokens += promptTokensEstimate;
		return stateOf(window, limit, now);
	}

	/**
	 * Puts the real tokens in the place of the estimate. Where the window of the estimate (`taken`) has ended,
	 * only what goes beyond the estimate counts, in the window that is open now.
	 */
	settle(accountId: string, subject: string, promptTokensEstimate: number, tokens: number, taken?: RateState): void {
		const window = this.#windows.get(`${accountId}\n${subject}`);
		if (window === undefined || window.endsAt <= this.#clock.monotonic()) return;
		const same = taken === undefined || taken.resetAtSeconds === window.resetAtSeconds;
		const more = tokens - promptTokensEstimate;
		window.tokens = Math.max(0, window.tokens + (same ? more : Math.max(0, more)));
	}

	get size(): number {
		return this.#windows.size;
	}

	#window(name: string, now: number): RateWindow {
		const open = this.#windows.get(name);
		if (open !== undefined && open.endsAt > now) return open;
		if (open !== undefined) this.#windows.delete(name);
		for (const [old, { endsAt }] of this.#windows) {
			if (endsAt > now && this.#windows.size < this.#maxWindows) break;
			this.#windows.delete(old);
		}
		const resetAtSeconds = Math.ceil((this.#clock.now() + WINDOW_MS) / 1000);
		const window: RateWindow = { endsAt: now + WINDOW_MS, resetAtSeconds, requests: 0, tokens: 0 };
		this.#windows.set(name, window);
		return window;
	}
}

function stateOf(window: RateWindow, limit: RateLimit, now: number): RateState {
	const state = {
		limitRequests: limit.requestsPerMinute,
		remainingRequests: Math.max(0, limit.requestsPerMinute - window.requests),
		resetAtSeconds: window.resetAtSeconds,
		resetInSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
	};
	const { tokensPerMinute } = limit;
	if (tokensPerMinute === undefined) return state;
	return { ...state, limitTokens: tokensPerMinute, remainingTokens: Math.max(0, tokensPerMinute - window.tokens) };
}

function exceeded(state: RateState, tokensOut: boolean): ApiError {
	const limit = tokensOut ? `${state.limitTokens} tokens` : `${state.limitRequests} requests`;
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: `Rate limit of ${limit} per minute reached; retry in ${state.resetInSeconds}s`,
		retryAfterSeconds: state.resetInSeconds,
		headers: rateHeaders(state),
	});
}

function rateHeaders(state: RateState): Record<string, string> {
	const headers: Record<string, string> = {
		"x-ratelimit-limit-requests": `${state.limitRequests}`,
		"x-ratelimit-remaining-requests": `${state.remainingRequests}`,
		"x-ratelimit-reset-requests": `${state.resetAtSeconds}`,
		"x-ratelimit-type": "user",
	};
	if (state.limitTokens === undefined) return headers;
	headers["x-ratelimit-limit-tokens"] = `${state.limitTokens}`;
	headers["x-ratelimit-remaining-tokens"] = `${state.remainingTokens ?? 0}`;
	headers["x-ratelimit-reset-tokens"] = `${state.resetInSeconds}`;
	return headers;
}
