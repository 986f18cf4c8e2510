/** The answers of POST /responses, for the API document. */

import Type from "typebox";
import { ServiceParametersEchoSchema } from "../../catalog/service-parameters.ts";
import { CostSchema, orNull } from "../../completions/answer-schemas.ts";
import { named } from "../../schema/named-schema.ts";

const open = Type.Object({}, { additionalProperties: true });
const Status = Type.Enum(["in_progress", "completed", "incomplete"]);
const literal = <Name extends string>(type: Name) => ({ type: Type.Literal(type) });

const OutputText = named(
	"ResponseOutputText",
	Type.Object({
		...literal("output_text"),
		text: Type.String(),
		annotations: Type.Array(open),
		logprobs: Type.Array(Type.Unknown()),
	}),
);
const Refusal = named("ResponseRefusal", Type.Object({ ...literal("refusal"), refusal: Type.String() }));
const ContentPart = Type.Union([OutputText, Refusal]);
const SummaryPart = named("ResponseSummaryPart", Type.Object({ ...literal("summary_text"), text: Type.String() }));

const id = { id: Type.String() };
const item = <Members extends Type.TProperties>(name: string, members: Members) => named(name, Type.Object(members));
const OutputItem = Type.Union([
	item("ResponseOutputMessage", {
		...literal("message"),
		...id,
		status: Status,
		role: Type.Literal("assistant"),
		content: Type.Array(ContentPart),
	}),
	item("ResponseReasoningItem", {
		...literal("reasoning"),
		...id,
		summary: Type.Array(SummaryPart),
		encrypted_content: orNull(Type.String()),
	}),
	item("ResponseFunctionCall", {
		...literal("function_call"),
		...id,
		status: Status,
		call_id: Type.String(),
		name: Type.String(),
		namespace: Type.Optional(Type.String()),
		arguments: Type.String(),
	}),
	item("ResponseCustomToolCall", {
		...literal("custom_tool_call"),
		...id,
		status: Status,
		call_id: Type.String(),
		name: Type.String(),
		namespace: Type.Optional(Type.String()),
		input: Type.String(),
	}),
	item("ResponseHostedToolCall", {
		type: Type.Enum(["local_shell_call", "shell_call", "apply_patch_call", "tool_search_call"]),
		...id,
		status: Status,
		call_id: Type.String(),
		execution: Type.Optional(Type.String()),
		action: Type.Optional(open),
		operation: Type.Optional(open),
		arguments: Type.Optional(Type.Union([open, Type.String()])),
	}),
	item("ResponseWebSearchCall", { ...literal("web_search_call"), ...id, status: Status }),
]);

const Usage = named(
	"ResponseUsage",
	Type.Object({
		input_tokens: Type.Integer(),
		input_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
		output_tokens: Type.Integer(),
		output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
		total_tokens: Type.Integer(),
	}),
);

/** The options of the request, with defaults. */
const echo = {
	instructions: orNull(Type.String()),
	max_output_tokens: orNull(Type.Integer()),
	metadata: Type.Record(Type.String(), Type.String()),
	parallel_tool_calls: Type.Boolean(),
	previous_response_id: Type.Null(),
	prompt_cache_key: orNull(Type.String()),
	reasoning: Type.Object({ effort: orNull(Type.String()), summary: orNull(Type.String()) }),
	store: Type.Boolean(),
	temperature: orNull(Type.Number()),
	text: Type.Object({ format: open, verbosity: Type.Optional(Type.String()) }),
	tool_choice: Type.Union([Type.String(), open]),
	tools: Type.Array(open),
	top_logprobs: Type.Integer(),
	top_p: orNull(Type.Number()),
	truncation: Type.String(),
};

export const ResponseSchema = named(
	"ResponseObject",
	Type.Object({
		...id,
		object: Type.Literal("response"),
		created_at: Type.Integer({ description: "Unix seconds" }),
		status: Type.Enum(["in_progress", "completed", "incomplete", "failed"]),
		background: Type.Boolean(),
		error: orNull(Type.Object({ code: Type.String(), message: Type.String() })),
		incomplete_details: orNull(Type.Object({ reason: Type.String() })),
		model: Type.String({ description: "The model of this service that answered" }),
		output: Type.Array(OutputItem),
		...echo,
		usage: orNull(Usage),
		cost: Type.Optional(CostSchema),
		service_parameters: Type.Optional(ServiceParametersEchoSchema),
	}),
);

/** An event of the stream, with the members of its type. */
export const ResponseEventSchema = Type.Object({
	type: Type.String({ description: "response.created, response.output_text.delta, response.completed and so on" }),
	sequence_number: Type.Integer({ minimum: 0 }),
	response: Type.Optional(ResponseSchema),
	output_index: Type.Optional(Type.Integer({ minimum: 0 })),
	item: Type.Optional(OutputItem),
	item_id: Type.Optional(Type.String()),
	content_index: Type.Optional(Type.Integer()),
	summary_index: Type.Optional(Type.Integer()),
	part: Type.Optional(Type.Union([ContentPart, SummaryPart])),
	delta: Type.Optional(Type.String()),
	text: Type.Optional(Type.String()),
	refusal: Type.Optional(Type.String()),
	name: Type.Optional(Type.String()),
	arguments: Type.Optional(Type.String()),
	input: Type.Optional(Type.String()),
	logprobs: Type.Optional(Type.Array(Type.Unknown())),
});
