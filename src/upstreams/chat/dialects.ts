/**
 * Which of our chat fields each kind of server knows, and under which name: data, no logic. Fields that a dialect does
 * not name are dropped; keys that are no fields of ours pass through.
 * Sources: OpenAI's API reference (chat, create) and its client's types; OpenRouter's pages "Parameters", "Create a
 * chat completion" and "Reasoning tokens"; vLLM's ChatCompletionRequest; llama.cpp's tools/server/README.md; Ollama's
 * page "OpenAI compatibility" and openai/openai.go; LM Studio's page "Chat completions" and its bug tracker (numbers at
 * the entries).
 */
import type { UpstreamConfig } from "../../config/schema.ts";

export type DialectName = UpstreamConfig["dialect"];

/** Fields with a value that needs no conversion: forwarded under the dialect's name, or dropped. */
export const PLAIN_FIELDS = [
	"frequency_penalty",
	"include",
	"metadata",
	"min_p",
	"n",
	"parallel_tool_calls",
	"presence_penalty",
	"prompt_cache_key",
	"repetition_penalty",
	"seed",
	"stop",
	"stop_token_ids",
	"temperature",
	"top_k",
	"top_p",
] as const;
export type PlainField = (typeof PLAIN_FIELDS)[number];

/** Fields that are never sent to any server (docs/chat.md). */
export const NEVER_FORWARDED = ["service_parameters", "user", "store", "fallbacks"] as const;

export interface Dialect {
	/** Plain fields that the server knows; a string is the server's own name for the field. */
	readonly plain: Readonly<Partial<Record<PlainField, true | string>>>;
	/** Its name for the output maximum. */
	readonly maxTokens: "max_completion_tokens" | "max_tokens";
	/** The role that `developer` messages get. */
	readonly developerRole: "developer" | "system";
	readonly logprobs: boolean;
	/** Forms of tool_choice: objects and strings, strings only, or none at all. */
	readonly toolChoice: "any" | "strings" | "none";
	/** `json_object` unchanged, or as a json_schema of any object. */
	readonly jsonObject: "known" | "as_schema";
	/** The field of the reasoning effort; `efforts` renames values that the server refuses. */
	readonly effort: "reasoning_effort" | "reasoning";
	readonly efforts?: Readonly<Record<string, string>>;
	/** How thinking is turned off. `listed_effort`: reasoning_effort `none`, if the model's entry lists it. */
	readonly thinkingOff: "chat_template_kwargs" | "effort_none" | "reasoning_enabled" | "listed_effort";
	/** min_temp and max_temp as a centre and a half width. */
	readonly dynamicTemperature: "dynatemp_range" | null;
	readonly verbosity: boolean;
	/** Values of prompt_cache_retention, ours to the server's; null: it has no such field. */
	readonly cacheRetention: Readonly<Record<string, string>> | null;
	/** Keys of assistant messages to remove (null) or rename. */
	readonly messageKeys: Readonly<Record<string, string | null>>;
	/** Keys of content parts that the server refuses. */
	readonly partKeys: readonly string[];
}

const OPENAI_PLAIN = {
	frequency_penalty: true,
	n: true,
	parallel_tool_calls: true,
	presence_penalty: true,
	seed: true,
	stop: true,
	temperature: true,
	top_p: true,
} as const;

const BASE = {
	plain: OPENAI_PLAIN,
	maxTokens: "max_tokens",
	developerRole: "system",
	logprobs: true,
	toolChoice: "any",
	jsonObject: "known",
	effort: "reasoning_effort",
	thinkingOff: "listed_effort",
	dynamicTemperature: null,
	verbosity: false,
	cacheRetention: null,
	messageKeys: {},
	partKeys: [],
} as const satisfies Dialect;

export const DIALECT_TABLE: Readonly<Record<DialectName, Dialect>> = {
	/**
	 * An unknown server: OpenAI's long-standing fields, and the sampling fields that open model servers share. All of
	 * them take `max_tokens`.
	 */
	generic: {
		...BASE,
		plain: { ...OPENAI_PLAIN, min_p: true, repetition_penalty: true, stop_token_ids: true, top_k: true },
	},
	/**
	 * OpenAI refuses `metadata` without `store`. prompt_cache_retention is `in_memory` or `24h`. Newer models refuse
	 * `max_tokens`. Unknown keys inside messages are refused.
	 */
	openai: {
		...BASE,
		plain: { ...OPENAI_PLAIN, prompt_cache_key: true },
		maxTokens: "max_completion_tokens",
		developerRole: "developer",
		verbosity: true,
		cacheRetention: { extended: "24h", "24h": "24h" },
		messageKeys: { reasoning_content: null, reasoning_details: null, thought_signature: null },
		partKeys: ["cache_control"],
	},
	openrouter: {
		...BASE,
		plain: { ...OPENAI_PLAIN, metadata: true, min_p: true, prompt_cache_key: true, repetition_penalty: true, top_k: true },
		maxTokens: "max_completion_tokens",
		developerRole: "developer",
		effort: "reasoning",
		thinkingOff: "reasoning_enabled",
		verbosity: true,
		messageKeys: { reasoning_content: "reasoning" },
	},
	/** Chat templates know no role `developer`. Template variables that a template lacks are ignored. */
	vllm: {
		...BASE,
		plain: { ...OPENAI_PLAIN, min_p: true, repetition_penalty: true, stop_token_ids: true, top_k: true },
		maxTokens: "max_completion_tokens",
		thinkingOff: "chat_template_kwargs",
	},
	/** A tool_choice object counts as `auto` there. Dynamic temperature is temperature ± dynatemp_range. */
	"llama.cpp": {
		...BASE,
		plain: { ...OPENAI_PLAIN, min_p: true, repetition_penalty: "repeat_penalty", top_k: true },
		toolChoice: "strings",
		thinkingOff: "chat_template_kwargs",
		dynamicTemperature: "dynatemp_range",
	},
	/** `think` is ignored on /v1 (ollama/ollama 14820): effort `none` is the switch. Other efforts than three are refused. */
	ollama: {
		...BASE,
		plain: { frequency_penalty: true, presence_penalty: true, seed: true, stop: true, temperature: true, top_p: true },
		toolChoice: "none",
		efforts: { minimal: "low", xhigh: "high", max: "high" },
		thinkingOff: "effort_none",
		messageKeys: { reasoning_content: "reasoning" },
	},
	/** tool_choice objects and json_object are refused (lmstudio-bug-tracker 670, 189). */
	lmstudio: {
		...BASE,
		plain: {
			frequency_penalty: true,
			presence_penalty: true,
			repetition_penalty: "repeat_penalty",
			seed: true,
			stop: true,
			temperature: true,
			top_k: true,
			top_p: true,
		},
		logprobs: false,
		toolChoice: "strings",
		jsonObject: "as_schema",
		thinkingOff: "effort_none",
	},
};
