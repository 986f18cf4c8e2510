import { ApiError } from "../errors/index.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { RateLimit, RateState } from "./port.ts";

const WINDOW_MS = 60_000;

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
 * Requests and tokens per minute: fixed windows of 60 s that begin with their first request, one for each
 * (account, subject). Requests are taken and never given back; tokens are counted, and may be passed by what is
 * under way. Bounded: past `maxWindows` the oldest window is forgotten.
 */
export class RateWindows {
	readonly #clock: Clock;
	readonly #maxWindows: number;
	/** By account, then subject: both are strings that live long, so that a look-up neither joins nor hashes text. */
	readonly #accounts = new Map<string, Map<string, RateWindow>>();
	/** All windows in the order of their ends: they last equally long. */
	readonly #order = new Set<RateWindow>();

	constructor(clock: Clock, maxWindows: number) {
		this.#clock = clock;
		this.#maxWindows = maxWindows;
	}

	/** Takes one request and counts its prompt's estimate. Throws RATE_LIMIT_EXCEEDED and then takes nothing. */
	take(accountId: string, subject: string, limit: RateLimit, promptTokensEstimate: number): RateState {
		const now = this.#clock.monotonic();
		const window = this.#open(accountId, subject, now);
		const { requestsPerMinute, tokensPerMinute } = limit;
		const tokensOut = tokensPerMinute !== undefined && window.tokens >= tokensPerMinute;
		if (tokensOut || window.requests >= requestsPerMinute) throw exceeded(stateOf(window, limit, now), tokensOut, subject);
		window.requests++;
		window.tokens += promptTokensEstimate;
		return stateOf(window, limit, now);
	}

	/**
	 * Puts the real tokens in the place of the estimate. Where the window of the estimate (`taken`) has ended,
	 * only what goes beyond the estimate counts, in the window that is open now.
	 */
	settle(accountId: string, subject: string, promptTokensEstimate: number, tokens: number, taken?: RateState): void {
		const window = this.#accounts.get(accountId)?.get(subject);
		if (window === undefined || window.endsAt <= this.#clock.monotonic()) return;
		const same = taken === undefined || taken.resetAtSeconds === window.resetAtSeconds;
		const more = tokens - promptTokensEstimate;
		window.tokens = Math.max(0, window.tokens + (same ? more : Math.max(0, more)));
	}

	get size(): number {
		return this.#order.size;
	}

	/** The window that is open now, or a new one. */
	#open(accountId: string, subject: string, now: number): RateWindow {
		const known = this.#accounts.get(accountId)?.get(subject);
		if (known !== undefined && known.endsAt > now) return known;
		for (const oldest of this.#order) {
			if (oldest.endsAt > now && this.#order.size < this.#maxWindows) break;
			this.#forget(oldest);
		}
		const window: RateWindow = {
			accountId,
			subject,
			endsAt: now + WINDOW_MS,
			resetAtSeconds: Math.ceil((this.#clock.now() + WINDOW_MS) / 1000),
			requests: 0,
			tokens: 0,
		};
		const subjects = this.#accounts.get(accountId) ?? new Map<string, RateWindow>();
		this.#accounts.set(accountId, subjects);
		subjects.set(subject, window);
		this.#order.add(window);
		return window;
	}

	#forget(window: RateWindow): void {
		this.#order.delete(window);
		const subjects = this.#accounts.get(window.accountId);
		subjects?.delete(window.subject);
		if (subjects?.size === 0) this.#accounts.delete(window.accountId);
	}
}

function stateOf(window: RateWindow, limit: RateLimit, now: number): RateState {
	const limitRequests = limit.requestsPerMinute;
	const remainingRequests = Math.max(0, limitRequests - window.requests);
	const { resetAtSeconds } = window;
	const resetInSeconds = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
	const limitTokens = limit.tokensPerMinute;
	if (limitTokens === undefined) return { limitRequests, remainingRequests, resetAtSeconds, resetInSeconds };
	const remainingTokens = Math.max(0, limitTokens - window.tokens);
	return { limitRequests, remainingRequests, resetAtSeconds, resetInSeconds, limitTokens, remainingTokens };
}

function exceeded(state: RateState, tokensOut: boolean, subject: string): ApiError {
	const limit = tokensOut ? `${state.limitTokens} tokens` : `${state.limitRequests} requests`;
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: `Rate limit of ${limit} per minute reached; retry in ${state.resetInSeconds}s`,
		retryAfterSeconds: state.resetInSeconds,
		headers: rateHeaders(state),
		limit: { kind: tokensOut ? "TPM" : "RPM", subject },
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
