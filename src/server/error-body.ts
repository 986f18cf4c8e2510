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

/** Anything that was thrown, as an error of the table. What is not one already becomes UNKNOWN_ERROR. */
export function asApiError(thrown: unknown): ApiError {
	return thrown instanceof ApiError ? thrown : new ApiError("UNKNOWN_ERROR", { cause: thrown });
}

/** The inner object that OpenAI's clients read: also the payload of an error event in a stream. */
export function openAiError(error: ApiError): { message: string; type: string; param: string | null; code: string } {
	return {
		message: error.message,
		type: openAiType(error.status),
		param: error.options.param ?? null,
		code: error.options.openAiCode ?? error.publicCode,
	};
}

/** How a route tells errors. */
export type ErrorForm = "openai" | "anthropic" | "plain" | "x402";

export function errorForm({ openAi, anthropic, x402 }: Pick<Endpoint, "openAi" | "anthropic" | "x402">): ErrorForm {
	if (openAi) return "openai";
	return anthropic === true ? "anthropic" : x402 === true ? "x402" : "plain";
}

/**
 * The JSON body of an error (docs/api.md): `error` is an object on the routes that an OpenAI SDK calls, a string
 * elsewhere; the machine code stands beside it in both. On x402 routes `error` is the code, but of 429. On those of
 * Anthropic's SDK `error` is its object.
 */
export function errorBody(error: ApiError, form: ErrorForm): Record<string, unknown> {
	const { issues, extra, body } = error.options;
	if (body !== undefined) return body;
	const more = { ...(issues ? { details: detailsOf(issues), issues } : {}), ...extra };
	if (form === "x402" && error.status !== 429) return { error: error.publicCode, message: error.message, ...more };
	if (form === "anthropic") return { ...anthropicError(error), code: error.publicCode, ...more };
	return { error: form === "openai" ? openAiError(error) : error.message, code: error.publicCode, ...more };
}

/** The status of an error of the table in a form. */
export function errorStatus(code: ErrorCode, form: ErrorForm): number {
	return form === "anthropic" ? anthropicStatus(code) : ERROR_TABLE[code][0];
}

/** Headers that belong to the error itself. */
export function errorHeaders(error: ApiError): Record<string, string> {
	const headers: Record<string, string> = { ...error.options.headers };
	if (error.options.retryAfterSeconds !== undefined)
		headers["Retry-After"] = String(Math.max(1, Math.ceil(error.options.retryAfterSeconds)));
	if (error.status === 401) headers["WWW-Authenticate"] = "Bearer";
	return headers;
}
