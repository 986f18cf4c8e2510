import type { TextModel } from "../catalog/types.ts";
import { ApiError } from "../errors/index.ts";
import type { PromptSize } from "./prompt-size.ts";

/**
 * Refuses a prompt that has more tokens than the model's context, by bytes alone: only one that no tokenizer could fit.
 * @throws ApiError TOO_MANY_TOKENS
 */
export function requireRoom({ contextTokens }: Pick<TextModel, "contextTokens">, tokensAtLeast: number): void {
	if (contextTokens !== null && tokensAtLeast > contextTokens) throw contextPassed(`at least ${tokensAtLeast}`, contextTokens);
}

/**
 * Refuses a prompt that by our own count has more tokens than the model's context. Counts where its bytes could be so
 * many, and nowhere else. Media do not count: what they are worth differs between models.
 * @param count tokens of the prompt's text
 * @throws ApiError TOO_MANY_TOKENS
 */
export async function requireCountedRoom(
	model: Pick<TextModel, "contextTokens">,
	{ atLeast, textAtMost }: PromptSize,
	count: () => Promise<number>,
): Promise<void> {
	const { contextTokens } = model;
	if (contextTokens === null || textAtMost <= contextTokens) return;
	requireRoom(model, atLeast);
	const counted = await count();
	if (counted > contextTokens) throw contextPassed(String(counted), contextTokens);
}

function contextPassed(tokens: string, contextTokens: number): ApiError {
	return new ApiError("TOO_MANY_TOKENS", {
		message: `The model's context holds ${contextTokens} tokens; the messages have ${tokens} by our count. Shorten them`,
		param: "messages",
		openAiCode: "context_length_exceeded",
	});
}
