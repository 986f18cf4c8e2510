import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatCapabilities } from "./chat-capabilities.ts";

type Reasoning = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

/** How a request asks for thoughts: by an effort that the package knows, or by a budget within the output maximum. */
export interface Thinking {
	readonly reasoning?: Reasoning;
	readonly options?: SharedV4ProviderOptions;
	readonly maxOutputTokens?: number;
}

export interface ThinkingOptions {
	readonly capabilities: ChatCapabilities;
	/** The provider's own name for the model. */
	readonly model: string;
	readonly effort: Reasoning | undefined;
	readonly maxOutputTokens: number | undefined;
	readonly prompt: LanguageModelV4Prompt;
}

/** The share of an output maximum that thoughts may use. */
const SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.4, high: 0.6, xhigh: 0.7, max: 0.8 };

/**
 * Returns how the model is to think. Some models think within a token budget. The caller's maximum, which is held,
 * includes thoughts, so the budget is a share of it. Without space for a budget the model does not think. Nor does
 * Claude if the caller did not send its earlier thoughts back.
 */
export async function thinkingOf({ capabilities, model, effort, maxOutputTokens, prompt }: ThinkingOptions): Promise<Thinking> {
	const unbudgeted = {
		...(effort && { reasoning: limitEffort(effort, model, capabilities) }),
		...(maxOutputTokens !== undefined && { maxOutputTokens }),
	};
	const { budget } = capabilities;
	if (effort === undefined || effort === "none" || !budget?.models.test(model)) return unbudgeted;
	if (budget.claude) {
		const { getModelCapabilities } = await import("@ai-sdk/anthropic/internal");
		if (getModelCapabilities(model).supportsAdaptiveThinking) return unbudgeted;
		if (isMissingThoughts(prompt)) return { ...unbudgeted, reasoning: "none" };
	}
	if (maxOutputTokens === undefined) return unbudgeted;
	const tokens = Math.min(budget.most, Math.max(budget.least, Math.floor(maxOutputTokens * (SHARES[effort] ?? 0))));
	if (tokens >= maxOutputTokens) return { ...unbudgeted, reasoning: "none" };
	return { options: budget.option(tokens), maxOutputTokens: budget.claude ? maxOutputTokens - tokens : maxOutputTokens };
}

function limitEffort(effort: Reasoning, model: string, { maxEffort: mostEffort }: ChatCapabilities): Reasoning {
	const isAbove = effort === "high" || effort === "xhigh" || effort === "max";
	return mostEffort?.models.test(model) && isAbove ? mostEffort.effort : effort;
}

/** Returns true if the current turn called tools and the thoughts before the calls are missing or unsigned. */
function isMissingThoughts(prompt: LanguageModelV4Prompt): boolean {
	const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === "user") + 1);
	return turn.some(
		(message) =>
			message.role === "assistant" &&
			message.content.some(({ type }) => type === "tool-call") &&
			!message.content.some((part) => part.type === "reasoning" && part.providerOptions !== undefined),
	);
}
