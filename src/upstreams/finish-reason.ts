/** Why a choice ended, in OpenAI's words: servers have others, and clients of strict types fail at them. */

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

const OPENAI: ReadonlySet<string> = new Set<FinishReason>(["stop", "length", "tool_calls", "content_filter", "function_call"]);

/**
 * In small letters, without what stands between their parts. What its server broke off is incomplete, as at its maximum.
 * Every other word is an end like any: `stop`.
 */
const OTHERS: ReadonlyMap<string, FinishReason> = new Map(
	(
		[
			[
				"length",
				"length maxtokens maxtoken maxlength maxoutputtokens maxnewtokens maxcompletiontokens tokenlimit modellength contextlength " +
					"contextwindow contextwindowexceeded modelcontextwindowexceeded limit truncated incomplete " +
					"abort aborted cancel canceled cancelled interrupted error errored networkerror timeout insufficientsystemresource",
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

/** The word of an upstream as OpenAI's. */
export function finishReasonOf(word: string): FinishReason {
	if (isOpenAiReason(word)) return word;
	return OTHERS.get(word.toLowerCase().replaceAll(/[^a-z]/g, "")) ?? "stop";
}

export function isOpenAiReason(word: unknown): word is FinishReason {
	return typeof word === "string" && OPENAI.has(word);
}
