/** The body of POST /completions (docs/chat.md) and its answers. Unknown top-level keys are forwarded, as in chat. */
import Type, { type Static } from "typebox";
import { CostSchema, OpenAiErrorEventSchema, orNull } from "../../completions/answer-schemas.ts";
import { ChatBodySchema } from "../../completions/index.ts";
import { named } from "../../schema/named-schema.ts";

const chat = ChatBodySchema.properties;

export const CompletionsBodySchema = Type.Object({
	model: chat.model,
	prompt: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 1 })], {
		description: "The text to continue, or a list of one text",
	}),
	suffix: Type.Optional(Type.String({ description: "The text after the gap that the model fills, if it can" })),
	max_tokens: Type.Optional(Type.Integer({ default: 16, description: "0 or less counts as absent" })),
	echo: Type.Optional(Type.Boolean({ default: false, description: "Must be false" })),
	logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
	best_of: Type.Optional(Type.Integer({ description: "Ignored: every generated answer is paid" })),
	frequency_penalty: chat.frequency_penalty,
	presence_penalty: chat.presence_penalty,
	repetition_penalty: chat.repetition_penalty,
	min_p: chat.min_p,
	top_k: chat.top_k,
	top_p: chat.top_p,
	temperature: chat.temperature,
	n: chat.n,
	seed: chat.seed,
	stop: chat.stop,
	stop_token_ids: chat.stop_token_ids,
	stream: chat.stream,
	stream_options: chat.stream_options,
	prompt_cache_key: chat.prompt_cache_key,
	user: chat.user,
	fallbacks: chat.fallbacks,
});
export type CompletionsBody = Static<typeof CompletionsBodySchema>;

/** Members of conversations that a bare text lacks. Both have `response_format`. */
const OF_CHAT_ALONE: ReadonlySet<string> = new Set(
	Object.keys(chat).filter((name) => !Object.hasOwn(CompletionsBodySchema.properties, name) && name !== "response_format"),
);

/**
 * Returns the members that may be forwarded. Members that only a conversation has are removed, such as another name of
 * the maximum.
 */
export function withoutChatMembers(request: CompletionsBody): Partial<CompletionsBody> {
	return Object.fromEntries(Object.entries(request).filter(([name]) => !OF_CHAT_ALONE.has(name)));
}

const Choice = named(
	"TextChoice",
	Type.Object({
		index: Type.Integer(),
		text: Type.String(),
		logprobs: Type.Optional(Type.Unknown()),
		finish_reason: Type.Optional(orNull(Type.String({ description: "stop, length or content_filter" }))),
	}),
);
const Usage = Type.Object({
	prompt_tokens: Type.Integer(),
	completion_tokens: Type.Integer(),
	total_tokens: Type.Integer(),
});
const head = {
	id: Type.String(),
	object: Type.Literal("text_completion"),
	created: Type.Integer({ description: "Unix seconds" }),
	model: Type.String({ description: "The model of this service that answered" }),
	choices: Type.Array(Choice),
};

export const TextCompletionSchema = named("TextCompletion", Type.Object({ ...head, usage: Usage, cost: CostSchema }));

/** The data of an event of the stream. */
export const TextEventSchema = Type.Union([
	named("TextCompletionChunk", Type.Object({ ...head, usage: Type.Optional(orNull(Usage)), cost: Type.Optional(CostSchema) })),
	OpenAiErrorEventSchema,
]);
