/**
 * What each provider's package is told of our chat fields, and under which name: data, no logic. What is not named
 * here and is no field of the packages' common call options is not sent (docs/chat.md, Other providers).
 *
 * Sources: the option schemas of the packages, and the providers' API references.
 */
import type { LanguageModelV4ProviderTool, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";

type Options = SharedV4ProviderOptions;
type OptionValue = SharedV4ProviderOptions[string][string];

export interface ChatCapabilities {
	/** The name under which its package takes options. */
	readonly namespace: string;
	/** Options that always go with a request. */
	readonly always?: Readonly<Record<string, OptionValue>>;
	/** Our members that go as options of that namespace. */
	readonly named?: Readonly<Record<string, string>>;
	/** Our members that its package writes into the body as they are. */
	readonly raw?: readonly string[];
	/** True where its package does not ask for the usage of a stream. */
	readonly omitsUsage?: true;
	/** True where an output maximum must be told: without the caller's it is the one of the model's entry. */
	readonly needsMaximum?: true;
	/** True where the provider reads some addresses by itself at most: files at others go as their bytes. */
	readonly needsBytes?: true;
	/** The option that says whether a schema is meant strictly. */
	readonly strictSchema?: string;
	/** What says that tools are to be called one at a time. */
	readonly oneToolAtATime?: Options;
	/** What asks for the text of the thoughts, for models that reason. */
	readonly showThoughts?: Options;
	/** A hint that what comes before it may be kept, from `cache_control`. */
	readonly cacheHint?: (ttl: string | undefined) => Options;
	/** System messages are taken at the beginning only: all of them are put there, in their order. */
	readonly systemFirst?: true;
	/** `json_object` without a schema is not known: it goes as a schema of any object. */
	readonly jsonObjectAsSchema?: true;
	/** The tool by which it searches X. */
	readonly searchX?: LanguageModelV4ProviderTool;
	/** Models whose package leaves the output maximum out above an effort: it is the most that they are told. */
	readonly maxEffort?: { readonly models: RegExp; readonly effort: "medium" };
	/** Models that think within a budget of tokens, which is to be taken out of the output maximum. */
	readonly budget?: ThoughtBudget;
}

export interface ThoughtBudget {
	/** By the provider's own names: others are told an effort. */
	readonly models: RegExp;
	readonly option: (budgetTokens: number) => Options;
	readonly least: number;
	readonly most: number;
	/**
	 * Claude: its package adds the budget to the maximum; newer models have no budget; thoughts before a call of a tool must
	 * come back signed.
	 */
	readonly claude?: true;
}

/** "Building with extended thinking". */
const CLAUDE = { models: /claude/i, least: 1_024, most: 1_000_000, claude: true } as const;
/** "Gemini thinking": the budgets that all models of the 2.5 series take. */
const GEMINI = { models: /gemini-2\.5/i, least: 512, most: 24_576 } as const;

const ONE_TOOL = { parallelToolCalls: false };
const CLAUDE_ONE_TOOL = { anthropic: { disableParallelToolUse: true } };
/** Of servers that run open models behind OpenAI's form. */
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
	/** Unless told otherwise it keeps what it answers for 30 days. */
	xai: {
		namespace: "xai",
		always: { store: false },
		named: { prompt_cache_key: "promptCacheKey", min_p: "minP" },
		oneToolAtATime: { xai: ONE_TOOL },
		searchX: { type: "provider", id: "xai.x_search", name: "x_search", args: {} },
	},
};

/** Options of several sources as one; of the same name the later, member by member. */
export function mergedOptions(...all: readonly (Options | undefined)[]): Options {
	const merged: Options = {};
	for (const options of all)
		for (const [namespace, values] of Object.entries(options ?? {})) merged[namespace] = { ...merged[namespace], ...values };
	return merged;
}
