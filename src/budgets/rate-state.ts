import { ApiError } from "../errors/index.ts";
import { MINUTE_MS } from "../store/minutes.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { RateLimit, RateState } from "./port.ts";

/** The facts of a minute window that its caller sees. */
export interface ReportedWindow {
	/** Monotonic instant of its end. */
	readonly endsAt: number;
	/** Unix seconds of its end, for the headers. */
	readonly resetAtSeconds: number;
}

/** Returns the state of a window in which this many requests and tokens are used. */
export function rateStateOf(
	window: ReportedWindow,
	used: { requests: number; tokens: number },
	limit: RateLimit,
	now: number,
): RateState {
	const limitRequests = limit.requestsPerMinute;
	const remainingRequests = Math.max(0, limitRequests - used.requests);
	const { resetAtSeconds } = window;
	const resetInSeconds = Math.max(1, Math.ceil((window.endsAt - now) / 1000));
	const limitTokens = limit.tokensPerMinute;
	if (limitTokens === undefined) return { limitRequests, remainingRequests, resetAtSeconds, resetInSeconds };
	const remainingTokens = Math.max(0, limitTokens - used.tokens);
	return { limitRequests, remainingRequests, resetAtSeconds, resetInSeconds, limitTokens, remainingTokens };
}

/** Returns the state of a window that begins now. */
export function unusedRateState(limit: RateLimit, clock: Clock): RateState {
	const now = clock.monotonicMs();
	const window = { endsAt: now + MINUTE_MS, resetAtSeconds: Math.ceil((clock.wallMs() + MINUTE_MS) / 1000) };
	return rateStateOf(window, { requests: 0, tokens: 0 }, limit, now);
}

/** Returns the 429 of a request that found the window used up: by tokens or by requests. */
export function rateLimitExceeded(state: RateState, tokensOut: boolean, subject: string): ApiError {
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
