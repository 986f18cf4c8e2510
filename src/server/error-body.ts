import { ApiError, ERROR_TABLE, type ErrorCode } from "../errors/index.ts";
import { detailsOf } from "../schema/index.ts";
import { anthropicError, anthropicStatus } from "./anthropic-error.ts";
import type { Endpoint } from "./endpoint.ts";

function openAiType(status: number): string {
	if (status >= 500) return "server_error";
	if (status === 401) return "authentication_error";
	if (status === 402) return "insufficient_quota";
	if (status === 403) return "permission_error";
	if (status === 429) return "rate_limit_error";
	return "invalid_request_error";
}

/** Returns anything thrown as an error of the table; anything else than an `ApiError` becomes UNKNOWN_ERROR. */
export function asApiError(thrown: unknown): ApiError {
	return thrown instanceof ApiError ? thrown : new ApiError("UNKNOWN_ERROR", { cause: thrown });
}

/** Returns the inner object that OpenAI's clients read. It is also the payload of an error event in a stream. */
export function openAiError(error: ApiError): { message: string; type: string; param: string | null; code: string } {
	return {
		message: error.message,
		type: openAiType(error.status),
		param: error.options.param ?? null,
		code: error.options.openAiCode ?? error.publicCode,
	};
}

/** The form in which a route reports errors. */
export type ErrorForm = "openai" | "anthropic" | "plain" | "x402";

export function errorForm({ openAi, anthropic, x402 }: Pick<Endpoint, "openAi" | "anthropic" | "x402">): ErrorForm {
	if (openAi) return "openai";
	return anthropic === true ? "anthropic" : x402 === true ? "x402" : "plain";
}

/**
 * Returns the JSON body of an error (docs/api.md). `error` is an object on routes of the OpenAI SDK, Anthropic's object
 * on routes of its SDK, and the code on x402 routes, except for 429. Elsewhere it is a string. The machine code is
 * always a member beside it.
 */
export function errorBody(error: ApiError, form: ErrorForm): Record<string, unknown> {
	const { issues, extra, body } = error.options;
	if (body !== undefined) return body;
	const more = { ...(issues ? { details: detailsOf(issues), issues } : {}), ...extra };
	if (form === "x402" && error.status !== 429) return { error: error.publicCode, message: error.message, ...more };
	if (form === "anthropic") return { ...anthropicError(error), code: error.publicCode, ...more };
	return { error: form === "openai" ? openAiError(error) : error.message, code: error.publicCode, ...more };
}

/** Returns the status of an error code in a form. */
export function errorStatus(code: ErrorCode, form: ErrorForm): number {
	return form === "anthropic" ? anthropicStatus(code) : ERROR_TABLE[code][0];
}

/** Returns the headers that belong to the error itself. */
export function errorHeaders(error: ApiError): Record<string, string> {
	const headers: Record<string, string> = { ...error.options.headers };
	if (error.options.retryAfterSeconds !== undefined)
		headers["Retry-After"] = String(Math.max(1, Math.ceil(error.options.retryAfterSeconds)));
	if (error.status === 401) headers["WWW-Authenticate"] = "Bearer";
	return headers;
}
