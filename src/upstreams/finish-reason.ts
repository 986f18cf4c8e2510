/** Converts finish reasons to OpenAI's: servers have others, and strictly typed clients fail at them. */

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

const OPENAI: ReadonlySet<string> = new Set<FinishReason>(["stop", "length", "tool_calls", "content_filter", "function_call"]);

/**
 * Other servers' reasons in lower case, without separators. An answer that its server cut off is incomplete, as at its
 * maximum. Every other reason becomes `stop`.
 */
const OTHERS: ReadonlyMap<string, FinishReason> = new Map(
	(
		[
			[
				"length",
				"length maxtokens maxtoken maxlength maxoutputtokens maxnewtokens maxcompletiontokens tokenlimit modellength contextlength " +
					"contextwindow contextwindowexceeded modelcontextwindowexceeded limit truncated incomplete " +
					"abort aborted cancel canceled cancelled interrupted timeout insufficientsystemresource",
			],
			["tool_calls", "toolcalls toolcall tooluse tools tool"],
			["function_call", "functioncall"],
			[
				"content_filter",
				"contentfilter contentfiltered contentpolicy contentpolicyviolation safety recitation blocklist prohibitedcontent spii " +
					"imagesafety imageprohibitedcontent refusal refused sensitive moderation moderated guardrailintervened errortoxic blocked",
			],
		] as const
	).flatMap(([reason, words]) => words.split(" ").map((word) => [word, reason] as const)),
);

/** Reasons of a choice that its server could not make, in the same form. Zhipu says `network_error`. */
const FAILED: ReadonlySet<string> = new Set(["error", "errored", "networkerror"]);

/** Returns OpenAI's finish reason for an upstream's. */
export function finishReasonOf(word: string): FinishReason {
	if (isOpenAiReason(word)) return word;
	return OTHERS.get(lettersOf(word)) ?? "stop";
}

/** Returns true if the server says that the choice failed: it is no answer. */
export function isFailedReason(reason: unknown): reason is string {
	return typeof reason === "string" && !OPENAI.has(reason) && FAILED.has(lettersOf(reason));
}

function lettersOf(word: string): string {
	return word.toLowerCase().replaceAll(/[^a-z]/g, "");
}

export function isOpenAiReason(word: unknown): word is FinishReason {
	return typeof word === "string" && OPENAI.has(word);
}

/** Returns true for a real finish reason: some servers write an empty one into every chunk. */
export function isFinishReason(reason: unknown): reason is string {
	return typeof reason === "string" && reason !== "";
}
