import { ApiError } from "../errors/index.ts";

/** Error codes of servers for a prompt that breaks their content rules: OpenAI, Azure, Groq. */
const CODES: ReadonlySet<string> = new Set([
	"content_policy_violation",
	"content_filter",
	"content_filtered",
	"moderation_blocked",
	"responsibleaipolicyviolation",
]);

/** The parts of an upstream's error that are read. */
interface ErrorWords {
	readonly code: string;
	readonly type: string;
}

/**
 * Returns true if an upstream refuses the content of the prompt. OpenRouter answers 403 with the reasons of the
 * moderation (its page "Errors", moderation metadata).
 */
export function isContentRefusal(status: number, { code, type }: ErrorWords, body: unknown): boolean {
	if (status < 400 || status >= 500) return false;
	if (CODES.has(code.toLowerCase()) || CODES.has(type.toLowerCase())) return true;
	return status === 403 && Array.isArray(memberOf(memberOf(memberOf(body, "error"), "metadata"), "reasons"));
}

function memberOf(value: unknown, key: string): unknown {
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

/** Returns the refusal for the caller, with the upstream's message, if any. */
export function contentRefusal(message: string): ApiError {
	return new ApiError("CONTENT_POLICY_VIOLATION", {
		...(message ? { message } : {}),
		headers: { "x-service-is-content-violation": "true" },
	});
}
