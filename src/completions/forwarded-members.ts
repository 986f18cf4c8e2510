import Type from "typebox";

/**
 * Members that tell a gateway behind us where and how to send a request, and with which credentials (LiteLLM's
 * parameters of a completion). Only its operator may set them, never a caller.
 */
const ROUTING = [
	"api_base",
	"api_key",
	"api_type",
	"api_version",
	"aws_access_key_id",
	"aws_bedrock_runtime_endpoint",
	"aws_region_name",
	"aws_secret_access_key",
	"aws_session_token",
	"azure_ad_token",
	"base_url",
	"caching",
	"custom_llm_provider",
	"deployment_id",
	"extra_headers",
	"extra_query",
	"guardrails",
	"headers",
	"input_cost_per_token",
	"litellm_metadata",
	"litellm_params",
	"max_retries",
	"mock_response",
	"model_list",
	"num_retries",
	"organization",
	"output_cost_per_token",
	"proxy_server_request",
	"request_timeout",
	"router",
	"timeout",
	"user_config",
	"vertex_credentials",
	"vertex_location",
	"vertex_project",
] as const;

/**
 * Members that a caller may not set. They are other names of the output maximum, discarded answers that cost beyond the
 * hold, and options that change the operator's price for the same tokens. LiteLLM's extra_body could replace all
 * others.
 */
export const NOT_THE_CALLERS = [
	...ROUTING,
	"auto_max_new_tokens",
	"best_of",
	"extra_body",
	"max_gen_len",
	"max_length",
	"max_new_tokens",
	"max_output_tokens",
	"max_tokens_to_sample",
	"min_new_tokens",
	"min_tokens",
	"n_cmpl",
	"n_predict",
	"num_predict",
	"num_return_sequences",
	"use_beam_search",
	"models",
	"plugins",
	"prediction",
	"provider",
	"route",
	"service_tier",
	"transforms",
	"web_search_options",
	"x_search",
	"functions",
	"function_call",
	"modelId",
] as const;

/** Members that the gateway itself writes into an upstream's body (src/upstreams/chat/dialects.ts). */
const OF_UPSTREAMS = ["chat_template_kwargs", "dynatemp_range", "repeat_penalty"] as const;

const anything = <Name extends string>(names: readonly Name[]) =>
	Object.fromEntries(names.map((name) => [name, Type.Unknown()])) as Record<Name, Type.TUnknown>;

/**
 * Members of a chat body that its schema does not name, and that are dropped, written by the gateway or read by
 * upstreams: a caller may not write them in another spelling either (docs/chat.md).
 */
export const ForwardedMembersSchema = Type.Object({
	...anything([...NOT_THE_CALLERS, ...OF_UPSTREAMS]),
	messages: Type.Array(
		Type.Object({
			reasoning: Type.Unknown(),
			tool_calls: Type.Array(
				Type.Object({ type: Type.Unknown(), function: Type.Object({ name: Type.Unknown(), arguments: Type.Unknown() }) }),
			),
		}),
	),
	response_format: Type.Object({
		schema: Type.Unknown(),
		json_schema: Type.Object(anything(["name", "description", "strict", "schema"])),
	}),
});
