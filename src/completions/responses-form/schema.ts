/**
 * The body of POST /responses (docs/responses.md). Unknown keys are dropped; options that need stored responses are
 * refused.
 */
import Type, { type Static } from "typebox";
import { ServiceParametersSchema } from "../../catalog/service-parameters.ts";
import { REASONING_EFFORTS } from "../../catalog/types.ts";
import { AUDIO_FORMATS, MAX_TOOLS } from "../schema.ts";

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(orNull(schema));
const text = () => optional(Type.String());

const ImageUrl = Type.Object({ url: Type.String({ minLength: 1 }), detail: Type.Optional(Type.Unknown()) });
const textOf = <Name extends string>(type: Name) => Type.Object({ type: Type.Literal(type), text: Type.String() });
const Refusal = Type.Object({ type: Type.Literal("refusal"), refusal: Type.String() });
const imageOf = <Name extends string>(type: Name) =>
	Type.Object({
		type: Type.Literal(type),
		image_url: optional(Type.Union([Type.String({ minLength: 1 }), ImageUrl])),
		file_id: text(),
		detail: Type.Optional(Type.Unknown()),
	});
const InputFile = Type.Object({
	type: Type.Literal("input_file"),
	file_data: text(),
	file_url: text(),
	file_id: text(),
	filename: text(),
});
const InputAudio = Type.Object({
	type: Type.Literal("input_audio"),
	input_audio: Type.Object({ data: Type.String({ minLength: 1 }), format: Type.Optional(Type.Enum([...AUDIO_FORMATS])) }),
});
const Part = Type.Union([
	textOf("input_text"),
	textOf("output_text"),
	textOf("text"),
	Refusal,
	imageOf("input_image"),
	imageOf("image_url"),
	InputFile,
	InputAudio,
]);
export type ResponsePart = Static<typeof Part>;

const Message = Type.Object({
	type: Type.Optional(Type.Literal("message")),
	role: Type.Enum(["user", "assistant", "system", "developer"]),
	content: Type.Union([Type.String(), Type.Array(Part)]),
	id: text(),
	status: text(),
});
const SummaryPart = Type.Union([Type.String(), Type.Object({ type: Type.Optional(Type.String()), text: Type.String() })]);
const Reasoning = Type.Object({
	type: Type.Literal("reasoning"),
	id: text(),
	summary: optional(Type.Array(SummaryPart)),
	content: optional(Type.Array(SummaryPart)),
	encrypted_content: text(),
	status: text(),
});
const Definition = {
	name: Type.String({ minLength: 1 }),
	description: text(),
	parameters: optional(Type.Object({})),
	strict: optional(Type.Boolean()),
};
const NestedFunction = Type.Object({ type: Type.Literal("function"), function: Type.Object(Definition) });
const FlatFunction = Type.Object({ type: Type.Literal("function"), ...Definition });
const CustomTool = Type.Object({
	type: Type.Literal("custom"),
	name: Type.String({ minLength: 1 }),
	description: text(),
	format: optional(
		Type.Object(
			{ type: Type.String(), syntax: text(), definition: text() },
			{ description: "A grammar is described to the model, but not enforced" },
		),
	),
});
const ToolSearch = Type.Object({
	type: Type.Literal("tool_search"),
	execution: text(),
	description: text(),
	parameters: optional(Type.Object({})),
});
const NAMED_TOOLS = ["function", "custom", "tool_search"] as const;
const SimpleTool = Type.Union([
	FlatFunction,
	NestedFunction,
	CustomTool,
	ToolSearch,
	Type.Object({ type: Type.String({ not: { enum: [...NAMED_TOOLS] } }) }),
]);
const Namespace = Type.Object({
	type: Type.Literal("namespace"),
	name: Type.String({ minLength: 1 }),
	description: text(),
	tools: Type.Array(SimpleTool, { maxItems: MAX_TOOLS }),
});
const OtherTool = Type.Object({
	type: Type.String({
		not: { enum: [...NAMED_TOOLS, "namespace"] },
		description:
			"local_shell, shell and apply_patch are passed on as functions. web_search and x_search run here. Other hosted tools are ignored",
	}),
});
export const ToolSchema = Type.Union([FlatFunction, NestedFunction, CustomTool, ToolSearch, Namespace, OtherTool]);
export type ResponseTool = Static<typeof ToolSchema>;
const Tools = Type.Array(ToolSchema, { maxItems: MAX_TOOLS });

const FunctionCall = Type.Object({
	type: Type.Literal("function_call"),
	call_id: Type.String({ minLength: 1 }),
	name: Type.String({ minLength: 1 }),
	namespace: text(),
	arguments: Type.String(),
	id: text(),
	status: text(),
});
const CustomCall = Type.Object({
	type: Type.Literal("custom_tool_call"),
	call_id: Type.String({ minLength: 1 }),
	name: Type.String({ minLength: 1 }),
	namespace: text(),
	input: Type.String(),
	id: text(),
	status: text(),
});
const CallOutput = Type.Object({
	type: Type.Enum(["function_call_output", "custom_tool_call_output"]),
	call_id: Type.String({ minLength: 1 }),
	output: Type.Unknown({ description: "Text, content parts, or any JSON value" }),
	id: text(),
	status: text(),
});
/** A call of a hosted tool that its caller runs. Older clients identify it by its id alone. */
const HostedCallItem = Type.Object({
	type: Type.Enum(["local_shell_call", "shell_call", "apply_patch_call", "tool_search_call"]),
	call_id: text(),
	id: text(),
	action: Type.Optional(Type.Unknown()),
	operation: Type.Optional(Type.Unknown()),
	arguments: Type.Optional(Type.Unknown()),
});
const HostedOutput = Type.Object({
	type: Type.Enum(["local_shell_call_output", "shell_call_output", "apply_patch_call_output"]),
	call_id: text(),
	id: text(),
	output: Type.Optional(Type.Unknown()),
	status: text(),
});
const ToolSearchOutput = Type.Object({ type: Type.Literal("tool_search_output"), call_id: text(), id: text(), tools: Tools });
const AdditionalTools = Type.Object({ type: Type.Literal("additional_tools"), id: text(), role: text(), tools: Tools });
const ItemReference = Type.Object({ type: Type.Literal("item_reference"), id: Type.String() });
/** An item that earlier answers contain; it is not sent to the model. */
const WebSearchCall = Type.Object({ type: Type.Literal("web_search_call"), id: text(), status: text() });

/** An item of unknown type: its text is read if it has content, otherwise it is ignored. */
const OtherItem = Type.Object({
	type: Type.String({
		not: {
			enum: [
				"message",
				"reasoning",
				"function_call",
				"custom_tool_call",
				"function_call_output",
				"custom_tool_call_output",
				"local_shell_call",
				"shell_call",
				"apply_patch_call",
				"tool_search_call",
				"local_shell_call_output",
				"shell_call_output",
				"apply_patch_call_output",
				"tool_search_output",
				"additional_tools",
				"item_reference",
				"web_search_call",
			],
		},
	}),
});

const Item = Type.Union([
	Message,
	Reasoning,
	FunctionCall,
	CustomCall,
	CallOutput,
	HostedCallItem,
	HostedOutput,
	ToolSearchOutput,
	AdditionalTools,
	ItemReference,
	WebSearchCall,
	OtherItem,
]);
export type ResponseItem = Static<typeof Item>;

const Format = Type.Union([
	Type.Object({ type: Type.Literal("text") }),
	Type.Object({ type: Type.Literal("json_object") }),
	Type.Object({
		type: Type.Literal("json_schema"),
		name: Type.String({ minLength: 1 }),
		schema: Type.Object({}),
		description: text(),
		strict: optional(Type.Boolean()),
	}),
]);

/** The options of this service that the route accepts; others are dropped. */
export const SERVICE_FIELDS = [
	"character_slug",
	"enable_e2ee",
	"enable_web_search",
	"enable_web_scraping",
	"enable_web_citations",
	"include_service_system_prompt",
	"include_search_results_in_stream",
] as const;

export const ResponsesBodySchema = Type.Object({
	model: Type.String({
		minLength: 1,
		description: "A model id, a trait or a compatibility name, with an optional feature suffix",
	}),
	input: Type.Union([Type.String(), Type.Array(Item)], {
		description: "The whole conversation. The service keeps nothing between requests",
	}),
	instructions: Type.Optional(Type.String({ description: "A system message before the input" })),
	include: Type.Optional(Type.Array(Type.String())),
	max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, description: "Maximum number of visible and reasoning tokens" })),
	temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
	top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
	top_logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
	reasoning: Type.Optional(
		Type.Object({
			effort: optional(Type.Enum([...REASONING_EFFORTS])),
			summary: optional(Type.Enum(["auto", "concise", "detailed"])),
		}),
	),
	text: Type.Optional(Type.Object({ format: optional(Format), verbosity: optional(Type.Enum(["low", "medium", "high"])) })),
	tools: Type.Optional(Tools),
	tool_choice: Type.Optional(
		Type.Union([
			Type.Enum(["auto", "none", "required"]),
			Type.Object({ type: Type.Literal("function"), function: Type.Object({ name: Type.String() }) }),
			Type.Object({ type: Type.Enum(["function", "custom"]), name: Type.String(), namespace: text() }),
			Type.Object({
				type: Type.Literal("allowed_tools"),
				mode: Type.Enum(["auto", "required"]),
				tools: Type.Array(Type.Object({ type: Type.String(), name: Type.Optional(Type.String()), namespace: text() })),
			}),
			Type.Object({ type: Type.String({ not: { enum: ["function", "custom", "allowed_tools"] } }) }),
		]),
	),
	parallel_tool_calls: Type.Optional(Type.Boolean({ default: true })),
	web_search: Type.Optional(Type.Boolean({ description: "true: same as service_parameters.enable_web_search `on`" })),
	stream: Type.Optional(Type.Boolean({ default: false })),
	truncation: Type.Optional(
		Type.Enum(["auto", "disabled"], { description: "Accepted, without effect: the input is never truncated" }),
	),
	metadata: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "Returned unchanged in the answer" })),
	prompt_cache_key: Type.Optional(Type.String()),
	fallbacks: Type.Optional(Type.Array(Type.Object({ model: Type.String() }), { maxItems: 10 })),
	store: Type.Optional(Type.Boolean({ default: false, description: "Must be false: nothing is stored" })),
	background: Type.Optional(Type.Boolean({ default: false, description: "Must be false" })),
	service_parameters: Type.Optional(Type.Pick(ServiceParametersSchema, [...SERVICE_FIELDS])),
});
export type ResponsesBody = Static<typeof ResponsesBodySchema>;
