/** The body of POST /messages and /messages/count_tokens (docs/messages.md). Keys that it does not name are dropped. */
import Type, { type Static } from "typebox";
import { ServiceParametersSchema } from "../../catalog/service-parameters.ts";
import { MAX_TOOLS } from "../../completions/schema.ts";

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(orNull(schema));
const text = () => optional(Type.String());

const CacheControl = optional(Type.Object({ type: Type.Literal("ephemeral"), ttl: Type.Optional(Type.String()) }));

const TextBlock = Type.Object({ type: Type.Literal("text"), text: Type.String(), cache_control: CacheControl });
const Base64Source = Type.Object({
	type: Type.Literal("base64"),
	media_type: Type.String({ pattern: "^[a-z]+/[A-Za-z0-9.+-]+$" }),
	data: Type.String({ minLength: 1 }),
});
const UrlSource = Type.Object({ type: Type.Literal("url"), url: Type.String({ minLength: 1 }) });
const FileSource = Type.Object({ type: Type.Literal("file"), file_id: Type.String() });
const ImageBlock = Type.Object({
	type: Type.Literal("image"),
	source: Type.Union([Base64Source, UrlSource, FileSource]),
	cache_control: CacheControl,
});
const PlainTextSource = Type.Object({ type: Type.Literal("text"), data: Type.String() });
const ContentSource = Type.Object({
	type: Type.Literal("content"),
	content: Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock]))]),
});
const DocumentBlock = Type.Object({
	type: Type.Literal("document"),
	source: Type.Union([Base64Source, UrlSource, FileSource, PlainTextSource, ContentSource]),
	title: text(),
	context: text(),
	cache_control: CacheControl,
});
const SearchResultBlock = Type.Object({
	type: Type.Literal("search_result"),
	source: Type.String(),
	title: Type.String(),
	content: Type.Array(TextBlock),
});
const ThinkingBlock = Type.Object({ type: Type.Literal("thinking"), thinking: Type.String(), signature: text() });
const RedactedBlock = Type.Object({ type: Type.Literal("redacted_thinking"), data: Type.String() });
const ToolUseBlock = Type.Object({
	type: Type.Literal("tool_use"),
	id: Type.String({ minLength: 1 }),
	name: Type.String({ minLength: 1 }),
	input: Type.Optional(Type.Unknown()),
});
/** Names a tool that `tools` contains as well. */
const ToolReference = Type.Object({ type: Type.Literal("tool_reference"), tool_name: Type.String() });
const ToolResultBlock = Type.Object({
	type: Type.Literal("tool_result"),
	tool_use_id: Type.String({ minLength: 1 }),
	content: optional(
		Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock, DocumentBlock, SearchResultBlock, ToolReference]))]),
	),
	is_error: optional(Type.Boolean()),
});
/** What Anthropic's service made of the conversation so far. */
const CompactionBlock = Type.Object({ type: Type.Literal("compaction"), content: text() });
/**
 * Blocks of tools that run at Anthropic. A conversation from there may contain them; they are not sent to the model.
 */
const hosted = <Name extends string>(type: Name) => Type.Object({ type: Type.Literal(type) });

const Block = Type.Union([
	TextBlock,
	ImageBlock,
	DocumentBlock,
	SearchResultBlock,
	ThinkingBlock,
	RedactedBlock,
	ToolUseBlock,
	ToolResultBlock,
	hosted("server_tool_use"),
	hosted("web_search_tool_result"),
	hosted("web_fetch_tool_result"),
	hosted("code_execution_tool_result"),
	hosted("bash_code_execution_tool_result"),
	hosted("text_editor_code_execution_tool_result"),
	hosted("tool_search_tool_result"),
	hosted("advisor_tool_result"),
	hosted("mcp_tool_use"),
	hosted("mcp_tool_result"),
	hosted("mcp_tool_listing"),
	hosted("tool_addition"),
	hosted("tool_removal"),
	hosted("fallback"),
	CompactionBlock,
]);
export type MessageBlock = Static<typeof Block>;

const Message = Type.Object({
	role: Type.Enum(["user", "assistant", "system"]),
	content: Type.Union([Type.String(), Type.Array(Block)]),
});
export type Message = Static<typeof Message>;

const Tool = Type.Object({
	type: text(),
	name: Type.String({ minLength: 1 }),
	description: text(),
	input_schema: Type.Optional(Type.Object({})),
	strict: optional(Type.Boolean()),
	display_width_px: Type.Optional(Type.Unknown({ description: "A member of Anthropic's computer tool" })),
	display_height_px: Type.Optional(Type.Unknown({ description: "A member of Anthropic's computer tool" })),
});
export type MessageTool = Static<typeof Tool>;

const choice = <Name extends string>(type: Name) =>
	Type.Object({ type: Type.Literal(type), disable_parallel_tool_use: optional(Type.Boolean()) });

const fields = {
	model: Type.String({
		minLength: 1,
		description: "A model id, a trait or a compatibility name, with an optional feature suffix",
	}),
	messages: Type.Array(Message, { minItems: 1 }),
	system: Type.Optional(Type.Union([Type.String(), Type.Array(TextBlock)])),
	tools: Type.Optional(Type.Array(Tool, { maxItems: MAX_TOOLS })),
	tool_choice: Type.Optional(
		Type.Union([
			choice("auto"),
			choice("any"),
			Type.Object({ type: Type.Literal("tool"), name: Type.String(), disable_parallel_tool_use: optional(Type.Boolean()) }),
			choice("none"),
		]),
	),
	thinking: Type.Optional(
		Type.Object({
			type: Type.Enum(["enabled", "disabled", "adaptive", "between_tools"]),
			budget_tokens: optional(
				Type.Integer({ minimum: 1, description: "A hint, converted to a reasoning effort for models that take one" }),
			),
		}),
	),
	output_config: Type.Optional(
		Type.Object({
			effort: optional(Type.Enum(["low", "medium", "high", "xhigh", "max"])),
			format: optional(Type.Object({ type: Type.Literal("json_schema"), schema: Type.Object({}) })),
		}),
	),
	service_parameters: Type.Optional(ServiceParametersSchema),
	thread: Type.Optional(Type.Unknown({ description: "Refused: the service keeps nothing between requests" })),
	container: Type.Optional(Type.Unknown({ description: "Refused: the service keeps nothing between requests" })),
};

export const MessagesBodySchema = Type.Object({
	...fields,
	max_tokens: Type.Integer({ minimum: 1 }),
	stop_sequences: Type.Optional(Type.Array(Type.String(), { maxItems: 4 })),
	stream: Type.Optional(Type.Boolean({ default: false })),
	temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
	top_k: Type.Optional(Type.Integer({ minimum: 0 })),
	top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
	metadata: Type.Optional(Type.Object({ user_id: text() }, { description: "Ignored" })),
});
export type MessagesBody = Static<typeof MessagesBodySchema>;

export const CountTokensBodySchema = Type.Object(fields);
export type CountTokensBody = Static<typeof CountTokensBodySchema>;
