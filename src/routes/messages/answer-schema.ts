/** The answers of POST /messages and /messages/count_tokens, for the API document. */

import Type from "typebox";
import { ServiceParametersEchoSchema } from "../../catalog/service-parameters.ts";
import { CostSchema, orNull } from "../../completions/answer-schemas.ts";
import { named } from "../../schema/named-schema.ts";

const literal = <Name extends string>(type: Name) => ({ type: Type.Literal(type) });

/** An object with a literal `type`, and a name of its own for clients. */
const typed = <Type_ extends string, Members extends Type.TProperties>(name: string, type: Type_, members: Members) =>
	named(name, Type.Object({ ...literal(type), ...members }));

const ContentBlock = Type.Union([
	typed("MessageText", "text", { text: Type.String(), citations: Type.Null() }),
	typed("MessageThinking", "thinking", { thinking: Type.String(), signature: Type.String() }),
	typed("MessageRedactedThinking", "redacted_thinking", { data: Type.String() }),
	typed("MessageToolUse", "tool_use", { id: Type.String(), name: Type.String(), input: Type.Unknown() }),
]);

const Usage = named(
	"MessageUsage",
	Type.Object({
		input_tokens: Type.Integer(),
		cache_creation_input_tokens: Type.Integer(),
		cache_read_input_tokens: Type.Integer(),
		output_tokens: Type.Integer(),
	}),
);

const stop = {
	stop_reason: orNull(Type.Enum(["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"])),
	stop_sequence: orNull(Type.String()),
};
const own = { cost: Type.Optional(CostSchema), service_parameters: Type.Optional(ServiceParametersEchoSchema) };

export const MessageSchema = named(
	"Message",
	Type.Object({
		id: Type.String(),
		...literal("message"),
		role: Type.Literal("assistant"),
		model: Type.String({ description: "The model of this service that answered" }),
		content: Type.Array(ContentBlock),
		...stop,
		usage: Usage,
		...own,
	}),
);

const index = Type.Integer({ minimum: 0 });

const delta = Type.Union([
	typed("MessageTextDelta", "text_delta", { text: Type.String() }),
	typed("MessageThinkingDelta", "thinking_delta", { thinking: Type.String() }),
	typed("MessageSignatureDelta", "signature_delta", { signature: Type.String() }),
	typed("MessageInputJsonDelta", "input_json_delta", { partial_json: Type.String() }),
]);
const error = Type.Object({ type: Type.String(), message: Type.String(), details: Type.Object({ error_code: Type.String() }) });

/** The data of an event of the stream. */
export const MessageEventSchema = Type.Union([
	typed("MessageStart", "message_start", { message: MessageSchema }),
	typed("ContentBlockStart", "content_block_start", { index, content_block: ContentBlock }),
	typed("ContentBlockDelta", "content_block_delta", { index, delta }),
	typed("ContentBlockStop", "content_block_stop", { index }),
	typed("MessageDelta", "message_delta", { delta: Type.Object(stop), usage: Usage, ...own }),
	typed("MessageStop", "message_stop", {}),
	typed("MessagePing", "ping", {}),
	typed("MessageError", "error", { error }),
]);

export const TokenCountSchema = named("TokenCount", Type.Object({ input_tokens: Type.Integer({ minimum: 0 }) }));
