import type { Dialect } from "../../chat/dialects.ts";

/** The dialect in which requests to packages are shaped: all fields, under the names of OpenAI's reference. */
export const PROVIDER_DIALECT: Dialect = {
	plain: {
		frequency_penalty: true,
		min_p: true,
		n: true,
		parallel_tool_calls: true,
		presence_penalty: true,
		prompt_cache_key: true,
		repetition_penalty: true,
		seed: true,
		stop: true,
		temperature: true,
		top_k: true,
		top_p: true,
	},
	maxTokens: "max_completion_tokens",
	developerRole: "system",
	logprobs: false,
	toolChoice: "any",
	jsonObject: "known",
	effort: "reasoning_effort",
	thinkingOff: "effort_none",
	dynamicTemperature: null,
	verbosity: true,
	cacheRetention: null,
	messageKeys: {},
	partKeys: [],
};
