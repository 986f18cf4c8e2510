import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ChatCapabilities } from "./chat-capabilities.ts";

type Reasoning = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

/** How a request asks for thoughts: an effort that the package knows, or a budget out of the output maximum. */
export interface Thinking {
	readonly reasoning?: Reasoning;
	readonly options?: SharedV4ProviderOptions;
	readonly maxOutputTokens?: number;
}

export interface ThinkingOptions {
	readonly facts: ChatCapabilities;
	/** The provider's own name. */
	readonly model: string;
	readonly effort: Reasoning | undefined;
	readonly maxOutputTokens: number | undefined;
	readonly prompt: LanguageModelV4Prompt;
}

/** The share of an output maximum that goes to thoughts. */
const SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.4, high: 0.6, xhigh: 0.7, max: 0.8 };

/**
 * Some models think within a budget of tokens. A caller's maximum counts thoughts too, and it is what is held: the budget
 * is a share of it, whatever the package would take of the model's own. Where there is no room for one, or where Claude
 * would have to see thoughts that the caller did not give back, the model does not think.
 */
export async function thinkingOf({ facts, model, effort, maxOutputTokens, prompt }: ThinkingOptions): Promise<Thinking> {
	const given = {
		...(effort && { reasoning: lowered(effort, model, facts) }),
		...(maxOutputTokens !== undefined && { maxOutputTokens }),
	};
	const { budget } = facts;
	if (effort === undefined || effort === "none" || !budget?.models.test(model)) return given;
	if (budget.claude) {
		const { getModelCapabilities } = await import("@ai-sdk/anthropic/internal");
		if (getModelCapabilities(model).supportsAdaptiveThinking) return given;
		if (lacksThoughts(prompt)) return { ...given, reasoning: "none" };
	}
	if (maxOutputTokens === undefined) return given;
	const tokens = Math.min(budget.most, Math.max(budget.least, Math.floor(maxOutputTokens * (SHARES[effort] ?? 0))));
	if (tokens >= maxOutputTokens) return { ...given, reasoning: "none" };
	return { options: budget.option(tokens), maxOutputTokens: budget.claude ? maxOutputTokens - tokens : maxOutputTokens };
}

function lowered(effort: Reasoning, model: string, { mostEffort }: ChatCapabilities): Reasoning {
	const isAbove = effort === "high" || effort === "xhigh" || effort === "max";
	return mostEffort?.models.test(model) && isAbove ? mostEffort.effort : effort;
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
