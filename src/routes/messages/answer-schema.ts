/** The answers of POST /messages and /messages/count_tokens, for the API document. */
import Type from "typebox";
import { ServiceParametersEchoSchema } from "../../catalog/service-parameters.ts";
import { CostSchema, orNull } from "../../completions/answer-schemas.ts";

const literal = <Name extends string>(type: Name) => ({ type: Type.Literal(type) });

const ContentBlock = Type.Union([
	Type.Object({ ...literal("text"), text: Type.String(), citations: Type.Null() }),
	Type.Object({ ...literal("thinking"), thinking: Type.String(), signature: Type.String() }),
	Type.Object({ ...literal("redacted_thinking"), data: Type.String() }),
	Type.Object({ ...literal("tool_use"), id: Type.String(), name: Type.String(), input: Type.Unknown() }),
]);

const Usage = Type.Object({
	input_tokens: Type.Integer(),
	cache_creation_input_tokens: Type.Integer(),
	cache_read_input_tokens: Type.Integer(),
	output_tokens: Type.Integer(),
});

const stop = {
	stop_reason: orNull(Type.Enum(["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"])),
	stop_sequence: orNull(Type.String()),
};
const own = { cost: Type.Optional(CostSchema), service_parameters: Type.Optional(ServiceParametersEchoSchema) };

export const MessageSchema = Type.Object({
	id: Type.String(),
	...literal("message"),
	role: Type.Literal("assistant"),
	model: Type.String({ description: "The model of this service that answered" }),
	content: Type.Array(ContentBlock),
	...stop,
	usage: Usage,
	...own,
});

const index = Type.Integer({ minimum: 0 });

/** The data of an event of the stream. */
export const MessageEventSchema = Type.Union([
	Type.Object({ ...literal("message_start"), message: MessageSchema }),
	Type.Object({ ...literal("content_block_start"), index, content_block: ContentBlock }),
	Type.Object({
		...literal("content_block_delta"),
		index,
		delta: Type.Union([
			Type.Object({ ...literal("text_delta"), text: Type.String() }),
			Type.Object({ ...literal("thinking_delta"), thinking: Type.String() }),
			Type.Object({ ...literal("signature_delta"), signature: Type.String() }),
			Type.Object({ ...literal("input_json_delta"), partial_json: Type.String() }),
		]),
	}),
	Type.Object({ ...literal("content_block_stop"), index }),
	Type.Object({ ...literal("message_delta"), delta: Type.Object(stop), usage: Usage, ...own }),
	Type.Object(literal("message_stop")),
	Type.Object(literal("ping")),
	Type.Object({
		...literal("error"),
		error: Type.Object({
			type: Type.String(),
			message: Type.String(),
			details: Type.Object({ error_code: Type.String() }),
		}),
	}),
]);

export const TokenCountSchema = Type.Object({ input_tokens: Type.Integer({ minimum: 0 }) });
