import { ApiError } from "../errors/index.ts";

/** Codes by which servers say that a prompt breaks the rules of their content: OpenAI, Azure, Groq. */
const CODES: ReadonlySet<string> = new Set([
	"content_policy_violation",
	"content_filter",
	"content_filtered",
	"moderation_blocked",
	"responsibleaipolicyviolation",
]);

/** What is read of an upstream's error. */
interface ErrorWords {
	readonly code: string;
	readonly type: string;
}

/**
 * True where an upstream refuses what the prompt says. OpenRouter tells it by 403 and the reasons of the
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

/** The refusal for the caller, with the upstream's own words where it has any. */
export function contentRefusal(message: string): ApiError {
	return new ApiError("CONTENT_POLICY_VIOLATION", {
		...(message ? { message } : {}),
		headers: { "x-service-is-content-violation": "true" },
	});
}
