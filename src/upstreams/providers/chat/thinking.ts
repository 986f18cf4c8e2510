import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatFacts } from "./facts.ts";

type Reasoning = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

/** How a request asks for thoughts: an effort that the package knows, or a budget out of the output maximum. */
export interface Thinking {
	readonly reasoning?: Reasoning;
	readonly options?: SharedV4ProviderOptions;
	readonly maxOutputTokens?: number;
}

export interface ThinkingInputs {
	readonly facts: ChatFacts;
	/** The provider's own name. */
	readonly model: string;
	readonly effort: Reasoning | undefined;
	readonly maxOutputTokens: number | undefined;
	readonly prompt: LanguageModelV4Prompt;
}

/** The share of an output maximum that goes to thoughts. */
const SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.4, high: 0.6, xhigh: 0.7, max: 0.8 };
/** The least that Claude takes ("Building with extended thinking"). */
const LEAST_BUDGET = 1_024;

/**
 * Claude's older models think within a budget of tokens, which its package adds to the output maximum. A caller's maximum
 * counts thoughts too, and it is what is held: the budget is taken out of it. Where it has no room for one, or where the
 * caller gave tool calls of this turn back without their signed thoughts, the model does not think.
 */
export async function thinkingOf({ facts, model, effort, maxOutputTokens, prompt }: ThinkingInputs): Promise<Thinking> {
	const given = { ...(effort && { reasoning: effort }), ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
	if (facts.budgetOption === undefined || effort === undefined || effort === "none" || !/claude/i.test(model)) return given;
	const { getModelCapabilities } = await import("@ai-sdk/anthropic/internal");
	if (getModelCapabilities(model).supportsAdaptiveThinking) return given;
	if (lacksThoughts(prompt)) return { ...given, reasoning: "none" };
	if (maxOutputTokens === undefined) return given;
	const budget = Math.max(LEAST_BUDGET, Math.floor(maxOutputTokens * (SHARES[effort] ?? 0)));
	if (budget >= maxOutputTokens) return { ...given, reasoning: "none" };
	return { options: facts.budgetOption(budget), maxOutputTokens: maxOutputTokens - budget };
}

/** True where the turn under way called tools and the thoughts before the calls are not there, or not signed. */
function lacksThoughts(prompt: LanguageModelV4Prompt): boolean {
	const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === "user") + 1);
	return turn.some(
		(message) =>
			message.role === "assistant" &&
			message.content.some(({ type }) => type === "tool-call") &&
			!message.content.some((part) => part.type === "reasoning" && part.providerOptions !== undefined),
	);
}
