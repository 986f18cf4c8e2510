import { type ApiError, ERROR_TABLE, type ErrorCode } from "../errors/index.ts";

/** Codes that say: too much at once, by all callers together. Anthropic tells that apart from the caller's own limits. */
const OVERLOADED: ReadonlySet<ErrorCode> = new Set(["MODEL_OVERLOADED", "MODEL_AT_CAPACITY", "SERVICE_UNAVAILABLE"]);

/** Anthropic's types of errors by status (its API reference, "Errors"). */
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

/** The status of an error of the table where Anthropic's clients read it. */
export function anthropicStatus(code: ErrorCode): number {
	return OVERLOADED.has(code) ? 529 : ERROR_TABLE[code][0];
}

/** An error in Anthropic's form: the body of an answer, and the data of an `error` event. */
export function anthropicError(error: ApiError) {
	const status = anthropicStatus(error.code);
	const type = TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
	const code = error.options.anthropicCode ?? error.publicCode;
	return { type: "error", error: { type, message: error.message, details: { error_code: code } } };
}
