import type {
	LanguageModelV4FinishReason,
	LanguageModelV4Source,
	LanguageModelV4Usage,
	SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { contentRefusal } from "../../content-policy.ts";
import { brokenAnswer, UpstreamFailure } from "../../failures.ts";

/** The contents of an answer that decide its finish reason. */
export interface AnswerContents {
	/** True if there is any text, thought or call. */
	readonly anything: boolean;
	readonly toolCalls: boolean;
}

/**
 * Returns the finish_reason, one of three (docs/chat.md). Throws UpstreamFailure if the answer has no proper end,
 * failed, or was refused without any content.
 */
export function finishReasonOf(
	{ unified, raw }: LanguageModelV4FinishReason,
	contents: AnswerContents,
): "stop" | "length" | "tool_calls" {
	switch (unified) {
		case "length":
			return "length";
		case "interrupted":
			throw brokenAnswer("the answer was cut");
		case "error":
			throw brokenAnswer("the provider says that the answer failed");
		case "content-filter":
			if (!contents.anything) throw new UpstreamFailure("request", contentRefusal(""), "the provider refused to answer");
			return "stop";
		case "other":
			if (raw === undefined) throw brokenAnswer("the answer has no end");
			// xAI's value in whole answers.
			if (raw === "incomplete") return "length";
	}
	return contents.toolCalls ? "tool_calls" : "stop";
}

/** Returns the usage in OpenAI's form; null unless the provider reported both sides of it. */
export function usageBody({ inputTokens, outputTokens }: LanguageModelV4Usage) {
	const [prompt, completion] = [inputTokens.total, outputTokens.total];
	if (prompt === undefined || completion === undefined || prompt + completion === 0) return null;
	return {
		prompt_tokens: prompt,
		completion_tokens: completion,
		total_tokens: prompt + completion,
		prompt_tokens_details: {
			cached_tokens: inputTokens.cacheRead ?? 0,
			cache_creation_input_tokens: inputTokens.cacheWrite ?? 0,
		},
		completion_tokens_details: { reasoning_tokens: outputTokens.reasoning ?? 0 },
	};
}

/** Returns a source as an annotation in OpenAI's form; undefined if it has no address. */
export function annotationOf(source: LanguageModelV4Source, places: { startIndex?: number; endIndex?: number } = {}) {
	if (source.sourceType !== "url") return undefined;
	const { startIndex, endIndex } = places;
	const place = startIndex === undefined || endIndex === undefined ? {} : { start_index: startIndex, end_index: endIndex };
	return { type: "url_citation", url_citation: { url: source.url, title: source.title ?? "", ...place } } as const;
}

export type Annotation = NonNullable<ReturnType<typeof annotationOf>>;

/** Returns true if the provider needs something back with the next turn. */
export function hasProviderMetadata(metadata: SharedV4ProviderMetadata | undefined): metadata is SharedV4ProviderMetadata {
	return metadata !== undefined && Object.values(metadata).some((values) => Object.keys(values).length > 0);
}
