import type { TextModel } from "../catalog/types.ts";
import { ApiError } from "../errors/index.ts";
import type { PromptSize } from "./prompt-size.ts";

/**
 * Refuses a prompt whose bytes alone show that no tokenizer could fit it into the model's context.
 * @throws ApiError TOO_MANY_TOKENS
 */
export function requireInContext({ contextTokens }: Pick<TextModel, "contextTokens">, minTokens: number): void {
	if (contextTokens !== null && minTokens > contextTokens) throw contextPassed(`at least ${minTokens}`, contextTokens);
}

/**
 * Refuses a prompt that by our own count exceeds the model's context. It counts only if the bytes leave that open.
 * Media do not count, since their token counts differ between models.
 * @param count tokens of the prompt's text
 * @throws ApiError TOO_MANY_TOKENS
 */
export async function requireCountInContext(
	model: Pick<TextModel, "contextTokens">,
	{ atLeast, textAtMost }: PromptSize,
	count: () => Promise<number>,
): Promise<void> {
	const { contextTokens } = model;
	if (contextTokens === null || textAtMost <= contextTokens) return;
	requireInContext(model, atLeast);
	const countedTokens = await count();
	if (countedTokens > contextTokens) throw contextPassed(String(countedTokens), contextTokens);
}

function contextPassed(tokens: string, contextTokens: number): ApiError {
	return new ApiError("TOO_MANY_TOKENS", {
		message: `The model's context holds ${contextTokens} tokens; the messages have ${tokens} by our count. Shorten them`,
		param: "messages",
		openAiCode: "context_length_exceeded",
	});
}
