import Type from "typebox";

/**
 * Other servers' names of an output maximum, and of answers that are made and thrown away: past the one that is
 * held they would be money; and the member whose content a gateway behind us puts in the place of all others
 * (LiteLLM's extra_body). Keys that change what the operator pays for the same tokens.
 */
export const NOT_THE_CALLERS = [
	"best_of",
	"extra_body",
	"max_gen_len",
	"max_length",
	"max_new_tokens",
	"max_output_tokens",
	"min_new_tokens",
	"min_tokens",
	"n_predict",
	"num_predict",
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
] as const;

/** What the gateway itself writes into an upstream's body (src/upstreams/dialects.ts). */
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
		json_schema: Type.Object(anything(["name", "description", "strict", "schema"])),
	}),
});
