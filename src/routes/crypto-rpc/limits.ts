import type { Caller } from "../../budgets/port.ts";
import type { Config } from "../../config/index.ts";
import { ApiError } from "../../errors/index.ts";

/** The single window of an account's requests, over all its keys and networks. */
export const RPC_WINDOW = "crypto-rpc";

/** Returns the limits of the account's tier: partners have those of the paid one. */
export function rpcLimits(tier: Caller["account"]["tier"], config: Config): Config["rpc"]["limits"]["paid"] {
	return tier === "staff" ? config.rpc.limits.staff : config.rpc.limits.paid;
}

/** Returns the refusal of the minute window in this route's own form: these headers, and only on a 429. */
export function minuteRefusal(error: ApiError, requestsPerMinute: number, subject: string): ApiError {
	const { headers = {}, retryAfterSeconds } = error.options;
	return new ApiError("RATE_LIMIT_EXCEEDED", {
		message: "Rate limit exceeded",
		extra: { customMessage: `Crypto RPC limit of ${requestsPerMinute} requests per minute reached` },
		headers: {
			"X-RateLimit-Limit": String(requestsPerMinute),
			"X-RateLimit-Remaining": "0",
			"X-RateLimit-Reset": headers["x-ratelimit-reset-requests"] ?? "",
		},
		...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
		limit: { kind: "RPM", subject },
	});
}
