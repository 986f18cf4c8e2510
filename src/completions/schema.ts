/** The body of POST /chat/completions (docs/chat.md). Unknown top-level keys pass on; nulls are gone before this checks. */
import Type, { type Static } from "typebox";
import { ServiceParametersSchema } from "../catalog/service-parameters.ts";
import { REASONING_EFFORTS } from "../catalog/types.ts";

/** Maximum number of tools. Each costs work for every upstream tried; no model makes use of as many. */
export const MAX_TOOLS = 2_048;

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Name = Type.Optional(orNull(Type.String()));
const CacheControl = Type.Optional(Type.Object({ type: Type.Literal("ephemeral"), ttl: Type.Optional(Type.String()) }));

const TextPart = Type.Object({ type: Type.Literal("text"), text: Type.String(), cache_control: CacheControl });
const ImagePart = Type.Object({
	type: Type.Literal("image_url"),
	image_url: Type.Object({ url: Type.String({ minLength: 1 }), detail: Type.Optional(Type.Unknown()) }),
	cache_control: CacheControl,
});
export const AUDIO_FORMATS = ["wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a", "pcm16", "pcm24"] as const;
const AudioPart = Type.Object({
	type: Type.Literal("input_audio"),
	input_audio: Type.Object({
		data: Type.String({ minLength: 1 }),
		format: Type.Optional(Type.Enum([...AUDIO_FORMATS], { default: "wav" })),
	}),
	cache_control: CacheControl,
});
const VideoPart = Type.Object({
	type: Type.Literal("video_url"),
	video_url: Type.Object({ url: Type.String({ minLength: 1 }) }),
	cache_control: CacheControl,
});
const FilePart = Type.Object({
	type: Type.Literal("file"),
	file: Type.Object({
		file_data: Type.String({
			minLength: 1,
			description: "A data: URL with base64, or a public http(s) URL; up to 25 MiB. The model gets the file's text",
		}),
		filename: Type.Optional(orNull(Type.String())),
	}),
	cache_control: CacheControl,
});

const TextContent = Type.Union([Type.String(), Type.Array(TextPart, { minItems: 1 })]);
const ToolCalls = Type.Optional(orNull(Type.Array(Type.Object({ id: Type.Optional(orNull(Type.String())) }))));
const Reasoning = {
	reasoning_content: Type.Optional(orNull(Type.String())),
	reasoning_details: Type.Optional(orNull(Type.Array(Type.Unknown()))),
	thought_signature: Type.Optional(orNull(Type.String())),
};

const UserMessage = Type.Object({
	role: Type.Literal("user"),
	content: Type.Union([
		Type.String(),
		Type.Array(Type.Union([TextPart, ImagePart, AudioPart, VideoPart, FilePart]), { minItems: 1 }),
	]),
	name: Name,
});
const AssistantMessage = Type.Object({
	role: Type.Literal("assistant"),
	content: Type.Optional(Type.Union([Type.String(), Type.Array(TextPart), Type.Null()])),
	name: Name,
	tool_calls: ToolCalls,
	...Reasoning,
});
const ToolMessage = Type.Object({
	role: Type.Literal("tool"),
	content: TextContent,
	tool_call_id: Type.String(),
	name: Name,
	tool_calls: ToolCalls,
	reasoning_content: Reasoning.reasoning_content,
});
const SystemMessage = Type.Object({ role: Type.Literal("system"), content: TextContent, name: Name });
const DeveloperMessage = Type.Object({ role: Type.Literal("developer"), content: TextContent, name: Name });

const MessageSchema = Type.Union([UserMessage, AssistantMessage, ToolMessage, SystemMessage, DeveloperMessage]);

const FunctionTool = Type.Object({
	type: Type.Optional(orNull(Type.String())),
	id: Type.Optional(orNull(Type.String())),
	function: Type.Object({
		name: Type.String({ minLength: 1 }),
		description: Type.Optional(orNull(Type.String())),
		parameters: Type.Optional(orNull(Type.Object({}))),
		strict: Type.Optional(orNull(Type.Boolean())),
	}),
});
const HostedTool = Type.Object({ type: Type.Enum(["web_search", "x_search"]) });

const closed = { additionalProperties: false } as const;
const ResponseFormat = Type.Union([
	Type.Object({ type: Type.Literal("text") }, closed),
	Type.Object({ type: Type.Literal("json_object") }, closed),
	Type.Object(
		{
			type: Type.Literal("json_schema"),
			json_schema: Type.Object({}, { description: "A JSON schema, bare or as {name, strict, schema}" }),
		},
		closed,
	),
]);

const Effort = Type.Enum([...REASONING_EFFORTS]);
const Verbosity = Type.Enum(["low", "medium", "high", "auto"]);
const unit = (maximum: number) => Type.Optional(Type.Number({ minimum: 0, maximum }));

export const ChatBodySchema = Type.Object({
	model: Type.String({
		minLength: 1,
		description: "A model id, a trait or a compatibility name, with an optional feature suffix",
	}),
	messages: Type.Array(MessageSchema, { minItems: 1 }),
	frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2, default: 0 })),
	presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2, default: 0 })),
	repetition_penalty: Type.Optional(Type.Number({ minimum: 0 })),
	logprobs: Type.Optional(Type.Boolean({ default: false })),
	top_logprobs: Type.Optional(Type.Integer({ minimum: 0 })),
	max_completion_tokens: Type.Optional(
		Type.Integer({ description: "Maximum number of visible and reasoning tokens. 0 or less counts as absent" }),
	),
	max_tokens: Type.Optional(Type.Integer({ deprecated: true, description: "Deprecated: use max_completion_tokens" })),
	max_temp: unit(2),
	min_temp: unit(2),
	min_p: unit(1),
	top_p: unit(1),
	top_k: Type.Optional(Type.Integer({ minimum: 0 })),
	temperature: unit(2),
	n: Type.Optional(Type.Integer({ minimum: 1, maximum: 8, default: 1 })),
	seed: Type.Optional(Type.Integer({ exclusiveMinimum: 0 })),
	stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
	stop_token_ids: Type.Optional(Type.Array(Type.Number())),
	stream: Type.Optional(Type.Boolean({ default: false })),
	stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(orNull(Type.Boolean())) })),
	prompt_cache_key: Type.Optional(Type.String()),
	prompt_cache_retention: Type.Optional(Type.Enum(["default", "extended", "24h"])),
	reasoning: Type.Optional(
		Type.Object({
			effort: Type.Optional(orNull(Effort)),
			summary: Type.Optional(orNull(Type.Enum(["auto", "concise", "detailed"]))),
			enabled: Type.Optional(orNull(Type.Boolean())),
		}),
	),
	reasoning_effort: Type.Optional(Effort),
	user: Type.Optional(Type.String()),
	store: Type.Optional(Type.Boolean()),
	verbosity: Type.Optional(Verbosity),
	text: Type.Optional(Type.Object({ verbosity: Type.Optional(orNull(Verbosity)) })),
	include: Type.Optional(Type.Array(Type.String())),
	metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
	parallel_tool_calls: Type.Optional(Type.Boolean({ default: true })),
	response_format: Type.Optional(ResponseFormat),
	functions: Type.Optional(
		Type.Array(FunctionTool.properties.function, { maxItems: MAX_TOOLS, deprecated: true, description: "Deprecated: use tools" }),
	),
	function_call: Type.Optional(
		Type.Union([Type.String(), Type.Object({ name: Type.String() })], {
			deprecated: true,
			description: "Deprecated: use tool_choice",
		}),
	),
	tools: Type.Optional(Type.Array(Type.Union([FunctionTool, HostedTool]), { maxItems: MAX_TOOLS })),
	tool_choice: Type.Optional(
		Type.Union([Type.String(), Type.Object({ type: Type.String(), function: Type.Object({ name: Type.String() }) })]),
	),
	fallbacks: Type.Optional(Type.Array(Type.Object({ model: Type.String() }), { maxItems: 10 })),
	service_parameters: Type.Optional(ServiceParametersSchema),
});

export type ChatBody = Static<typeof ChatBodySchema>;
export type ChatMessage = Static<typeof MessageSchema>;
