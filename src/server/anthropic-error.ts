import { type ApiError, ERROR_TABLE, type ErrorCode } from "../errors/index.ts";

/**
 * Codes that mean the server has too much work from all callers together. Anthropic has a type of its own for that,
 * apart from the caller's own limits.
 */
const OVERLOADED: ReadonlySet<ErrorCode> = new Set(["MODEL_OVERLOADED", "MODEL_AT_CAPACITY", "SERVICE_UNAVAILABLE"]);

/** Anthropic's error types by status (its API reference, "Errors"). */
const TYPES: Readonly<Record<number, string>> = {
	401: "authentication_error",
	402: "billing_error",
	403: "permission_error",
	404: "not_found_error",
	408: "timeout_error",
	410: "not_found_error",
	413: "request_too_large",
	429: "rate_limit_error",
	504: "timeout_error",
	529: "overloaded_error",
};

/** Returns the status of an error code as Anthropic's clients expect it. */
export function anthropicStatus(code: ErrorCode): number {
	return OVERLOADED.has(code) ? 529 : ERROR_TABLE[code][0];
}

/** Returns an error in Anthropic's form: the body of an answer, and the data of an `error` event. */
export function anthropicError(error: ApiError) {
	const status = anthropicStatus(error.code);
	const type = TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
	const code = error.options.anthropicCode ?? error.publicCode;
	return { type: "error", error: { type, message: error.message, details: { error_code: code } } };
}
