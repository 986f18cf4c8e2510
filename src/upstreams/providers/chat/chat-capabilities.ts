/**
 * Our chat fields that each provider's package accepts, and under which name: data, no logic. A field that is neither
 * listed here nor a common call option of the packages is not sent (docs/chat.md, Other providers).
 * Sources: the option schemas of the packages, and the providers' API references.
 */
import type { LanguageModelV4ProviderTool, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";

type Options = SharedV4ProviderOptions;
type OptionValue = SharedV4ProviderOptions[string][string];

export interface ChatCapabilities {
	/** The namespace of its package's options. */
	readonly namespace: string;
	/** Options that every request has. */
	readonly always?: Readonly<Record<string, OptionValue>>;
	/** Our members that become options of that namespace, with their names there. */
	readonly named?: Readonly<Record<string, string>>;
	/** Our members that its package writes into the body unchanged. */
	readonly raw?: readonly string[];
	/** True if its package does not request the usage of a stream. */
	readonly omitsUsage?: true;
	/** True if an output maximum is required. Without the caller's it is that of the model's entry. */
	readonly needsMaximum?: true;
	/** True if the provider reads few addresses or none by itself. Other files are sent as bytes. */
	readonly needsBytes?: true;
	/** The option for a strict schema. */
	readonly strictSchema?: string;
	/** The options that make the model call one tool at a time. */
	readonly oneToolAtATime?: Options;
	/** The options that request the text of the thoughts from reasoning models. */
	readonly showThoughts?: Options;
	/** Returns the hint that what precedes it may be cached, from `cache_control`. */
	readonly cacheHint?: (ttl: string | undefined) => Options;
	/** True if system messages are accepted only at the beginning. All of them are moved there, in their order. */
	readonly systemFirst?: true;
	/** True if `json_object` without a schema is not supported. It is sent as a schema of any object. */
	readonly jsonObjectAsSchema?: true;
	/** The tool with which it searches X. */
	readonly searchX?: LanguageModelV4ProviderTool;
	/** The highest effort for models whose package omits the output maximum above it. */
	readonly maxEffort?: { readonly models: RegExp; readonly effort: "medium" };
	/** Set for models that think within a token budget, which is taken out of the output maximum. */
	readonly budget?: ThoughtBudget;
}

export interface ThoughtBudget {
	/** Matches the provider's own names. Other models get an effort. */
	readonly models: RegExp;
	readonly option: (budgetTokens: number) => Options;
	readonly least: number;
	readonly most: number;
	/**
	 * True for Claude. Its package adds the budget to the maximum, newer models have no budget, and thoughts before a
	 * tool call must come back signed.
	 */
	readonly claude?: true;
}

/** Source: "Building with extended thinking". */
const CLAUDE = { models: /claude/i, least: 1_024, most: 1_000_000, claude: true } as const;
/** Source: "Gemini thinking". All models of the 2.5 series accept these budgets. */
const GEMINI = { models: /gemini-2\.5/i, least: 512, most: 24_576 } as const;

const ONE_TOOL = { parallelToolCalls: false };
const CLAUDE_ONE_TOOL = { anthropic: { disableParallelToolUse: true } };
/** Fields of servers that run open models with OpenAI's protocol. */
const SAMPLERS = ["min_p", "repetition_penalty", "top_k"];
const OPENAI_NAMED = { prompt_cache_key: "promptCacheKey", verbosity: "textVerbosity" };

export const CHAT_CAPABILITIES: Readonly<Partial<Record<ProviderName, ChatCapabilities>>> = {
	anthropic: {
		namespace: "anthropic",
		always: { includePings: true },
		needsMaximum: true,
		oneToolAtATime: CLAUDE_ONE_TOOL,
		cacheHint: (ttl) => ({ anthropic: { cacheControl: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } } }),
		systemFirst: true,
		jsonObjectAsSchema: true,
		budget: { ...CLAUDE, option: (budgetTokens) => ({ anthropic: { thinking: { type: "enabled", budgetTokens } } }) },
	},
	azure: {
		namespace: "openai",
		named: OPENAI_NAMED,
		strictSchema: "strictJsonSchema",
		oneToolAtATime: { openai: ONE_TOOL },
	},
	bedrock: {
		namespace: "amazonBedrock",
		maxEffort: { models: /nova/i, effort: "medium" },
		needsBytes: true,
		oneToolAtATime: CLAUDE_ONE_TOOL,
		cacheHint: () => ({ amazonBedrock: { cachePoint: { type: "default" } } }),
		systemFirst: true,
		jsonObjectAsSchema: true,
		budget: {
			...CLAUDE,
			option: (budgetTokens) => ({ amazonBedrock: { reasoningConfig: { type: "enabled", budgetTokens } } }),
		},
	},
	cerebras: { namespace: "cerebras", omitsUsage: true, raw: ["parallel_tool_calls", "response_format"] },
	cohere: {
		namespace: "cohere",
		budget: {
			models: /./,
			least: 1,
			most: 32_768,
			option: (tokenBudget) => ({ cohere: { thinking: { type: "enabled", tokenBudget } } }),
		},
	},
	deepinfra: { namespace: "deepinfra", omitsUsage: true, raw: ["parallel_tool_calls", "response_format", ...SAMPLERS] },
	deepseek: { namespace: "deepseek" },
	fireworks: { namespace: "fireworks", raw: ["parallel_tool_calls", "response_format", ...SAMPLERS] },
	google: {
		namespace: "google",
		needsBytes: true,
		showThoughts: { google: { thinkingConfig: { includeThoughts: true } } },
		systemFirst: true,
		budget: {
			...GEMINI,
			option: (thinkingBudget) => ({ google: { thinkingConfig: { includeThoughts: true, thinkingBudget } } }),
		},
	},
	"google-vertex": {
		namespace: "googleVertex",
		needsBytes: true,
		showThoughts: { googleVertex: { thinkingConfig: { includeThoughts: true } } },
		systemFirst: true,
		budget: {
			...GEMINI,
			option: (thinkingBudget) => ({ googleVertex: { thinkingConfig: { includeThoughts: true, thinkingBudget } } }),
		},
	},
	groq: {
		namespace: "groq",
		strictSchema: "strictJsonSchema",
		oneToolAtATime: { groq: ONE_TOOL },
		showThoughts: { groq: { reasoningFormat: "parsed" } },
	},
	mistral: {
		namespace: "mistral",
		named: { prompt_cache_key: "promptCacheKey" },
		strictSchema: "strictJsonSchema",
		oneToolAtATime: { mistral: ONE_TOOL },
	},
	openai: {
		namespace: "openai",
		named: OPENAI_NAMED,
		strictSchema: "strictJsonSchema",
		oneToolAtATime: { openai: ONE_TOOL },
	},
	perplexity: { namespace: "perplexity" },
	togetherai: { namespace: "togetherai", raw: ["parallel_tool_calls", "response_format", ...SAMPLERS] },
	/** By default it stores answers for 30 days. */
	xai: {
		namespace: "xai",
		always: { store: false },
		named: { prompt_cache_key: "promptCacheKey", min_p: "minP" },
		oneToolAtATime: { xai: ONE_TOOL },
		searchX: { type: "provider", id: "xai.x_search", name: "x_search", args: {} },
	},
};

/** Merges options of several sources. For equal names the later value wins, member by member. */
export function mergedOptions(...all: readonly (Options | undefined)[]): Options {
	const merged: Options = {};
	for (const options of all)
		for (const [namespace, values] of Object.entries(options ?? {})) merged[namespace] = { ...merged[namespace], ...values };
	return merged;
}
