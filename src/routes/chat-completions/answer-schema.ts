/**
 * The answers of POST /chat/completions, for the API document. Members of `choices` are the upstream's own, so there
 * may be more.
 */

import Type from "typebox";
import { ServiceParametersEchoSchema } from "../../catalog/service-parameters.ts";
import { CostSchema, OpenAiErrorEventSchema, orNull } from "../../completions/answer-schemas.ts";
import { named } from "../../schema/named-schema.ts";

const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(orNull(schema));

const FunctionCall = Type.Object({ name: Type.String(), arguments: Type.String() });
const ToolCall = named(
	"ChatToolCall",
	Type.Object({
		id: Type.Optional(Type.String()),
		type: Type.Optional(Type.String()),
		function: Type.Optional(FunctionCall),
	}),
);
const ToolCallDelta = named(
	"ChatToolCallDelta",
	Type.Object({
		index: Type.Optional(Type.Integer()),
		id: optional(Type.String()),
		type: optional(Type.String()),
		function: Type.Optional(Type.Object({ name: optional(Type.String()), arguments: optional(Type.String()) })),
	}),
);

const Annotation = named(
	"ChatAnnotation",
	Type.Object({
		type: Type.String({ description: "url_citation. Others may be added" }),
		url_citation: Type.Optional(
			Type.Object({
				url: Type.String(),
				title: optional(Type.String()),
				content: optional(Type.String()),
				start_index: optional(Type.Integer()),
				end_index: optional(Type.Integer()),
			}),
		),
	}),
);

const messageMembers = {
	content: optional(Type.String()),
	refusal: optional(Type.String()),
	reasoning_content: optional(Type.String()),
	reasoning_details: optional(Type.Array(Type.Unknown())),
	annotations: optional(Type.Array(Annotation)),
};
const Message = named(
	"ChatMessage",
	Type.Object({ role: Type.String(), ...messageMembers, tool_calls: optional(Type.Array(ToolCall)) }),
);
const Delta = named(
	"ChatDelta",
	Type.Object({ role: optional(Type.String()), ...messageMembers, tool_calls: optional(Type.Array(ToolCallDelta)) }),
);

const ending = {
	index: Type.Integer(),
	finish_reason: optional(Type.String({ description: "stop, length, tool_calls, content_filter or function_call" })),
	stop_reason: optional(Type.Unknown({ description: "The form that some upstreams use" })),
	logprobs: Type.Optional(Type.Unknown()),
};

const Usage = named(
	"ChatUsage",
	Type.Object({
		prompt_tokens: Type.Integer(),
		completion_tokens: Type.Integer(),
		total_tokens: Type.Integer(),
		prompt_tokens_details: optional(
			Type.Object({
				cached_tokens: optional(Type.Integer()),
				cache_creation_input_tokens: optional(Type.Integer({ description: "Tokens written to a cache" })),
			}),
		),
		completion_tokens_details: optional(Type.Object({ reasoning_tokens: optional(Type.Integer()) })),
	}),
);

const head = {
	id: Type.String(),
	created: Type.Integer({ description: "Unix seconds" }),
	model: Type.String({ description: "The model of this service that answered" }),
};

export const ChatCompletionSchema = named(
	"ChatCompletion",
	Type.Object({
		...head,
		object: Type.Literal("chat.completion"),
		choices: Type.Array(Type.Object({ ...ending, message: Message })),
		usage: Usage,
		cost: CostSchema,
		service_parameters: ServiceParametersEchoSchema,
	}),
);

const ChatCompletionChunk = named(
	"ChatCompletionChunk",
	Type.Object({
		...head,
		object: Type.String({ description: "chat.completion.chunk" }),
		choices: Type.Array(Type.Object({ ...ending, delta: Delta })),
		usage: optional(Usage),
		cost: Type.Optional(CostSchema),
		service_parameters: Type.Optional(ServiceParametersEchoSchema),
	}),
);

/** The data of an event of the stream. */
export const ChatEventSchema = Type.Union([ChatCompletionChunk, OpenAiErrorEventSchema]);
