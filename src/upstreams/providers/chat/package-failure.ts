import { APICallError } from "@ai-sdk/provider";
import { ApiError } from "../../../errors/index.ts";
import { isRecord } from "../../../schema/is-record.ts";
import { brokenAnswer, failureOfAnswer, isErrorBody, UpstreamFailure, upstreamOffline } from "../../failures.ts";

const MAX_CAUSES = 5;

/**
 * Converts an error that a package threw or streamed. An answer becomes a failure by its status and body. Errors of
 * connections and our own errors stay unchanged. Texts of the packages are not used, since they may quote the request.
 */
export function packageFailure(error: unknown): unknown {
	if (error instanceof ApiError || error instanceof UpstreamFailure) return error;
	if (APICallError.isInstance(error)) {
		return error.statusCode === undefined
			? (connectionFault(error) ?? brokenAnswer("no answer"))
			: answerFault(error, error.statusCode);
	}
	if (!(error instanceof Error)) return eventFault(error);
	const known = NAMED[error.name];
	return known === undefined
		? (connectionFault(error) ?? brokenAnswer(`the provider's package failed: ${error.name}`))
		: known(error);
}

/** Errors of the packages by name, since their classes exist in several versions. */
const NAMED: Readonly<Record<string, (error: Error) => unknown>> = {
	AbortError: (error) => error,
	AI_UnsupportedFunctionalityError: unsupportedPart,
	AI_InvalidPromptError: unsupportedPart,
	AI_LoadAPIKeyError: () => upstreamOffline("the provider's package has no key"),
	AI_LoadSettingError: () => upstreamOffline("the provider's package lacks a setting"),
	AI_NoSuchModelError: () => upstreamOffline("the provider's package knows no such model"),
};

function unsupportedPart(error: Error): ApiError {
	const { functionality } = error as { functionality?: unknown };
	const what = typeof functionality === "string" ? `: ${functionality.slice(0, 200)}` : "";
	return new ApiError("INVALID_REQUEST", { message: `This model's provider does not take a part of this request${what}` });
}

function answerFault(error: APICallError, status: number): UpstreamFailure {
	const body = parseOrNull(error.responseBody);
	if (status >= 200 && status < 300)
		return isRecord(body) && isErrorBody(body)
			? failureOfAnswer(status, body, null)
			: brokenAnswer("the answer cannot be read", status);
	return failureOfAnswer(status, body, error.responseHeaders?.["retry-after"] ?? null);
}

/** Returns the failure of an error event, which packages report as `{message, type, code, statusCode}`. */
function eventFault(event: unknown): UpstreamFailure {
	if (!isRecord(event)) return brokenAnswer("an error event of the stream");
	const { message, type, code, statusCode } = event;
	const status = [statusCode, code].map(Number).find((value) => value >= 400 && value <= 599) ?? 500;
	return failureOfAnswer(status, { error: { message, type, code } }, null);
}

/** Returns the innermost error with a connection's code. */
function connectionFault(error: unknown): unknown {
	let innermost: unknown;
	let current = error;
	for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth++) {
		if (typeof (current as { code?: unknown }).code === "string" || current.name === "UpstreamFailure") innermost = current;
		if (current.name === "AbortError" || current.name === "TimeoutError") innermost = current;
		current = current.cause;
	}
	return innermost;
}

function parseOrNull(text: string | undefined): unknown {
	const trimmed = text?.trim() ?? "";
	try {
		return JSON.parse(trimmed);
	} catch {
		return trimmed === "" || trimmed.startsWith("<") ? {} : { message: trimmed };
	}
}
