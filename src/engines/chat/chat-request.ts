/** Parses a chat request for the engine. Unsupported fields are refused by name, unknown ones are ignored. */
import Type, { type Static } from "typebox";
import { ApiError } from "../../errors/index.ts";
import { checker, invalidField, invalidRequest } from "../../schema/index.ts";
import { type ChatMessage, type PromptPiece, renderChat } from "./chat-template.ts";
import { grammarForSchema, JSON_OBJECT_GRAMMAR, SchemaUnsupported } from "./schema-grammar.ts";

const TextPart = Type.Object({ type: Type.Literal("text"), text: Type.String() });
const Message = Type.Object({
	role: Type.Enum(["system", "developer", "user", "assistant", "tool"]),
	content: Type.Optional(Type.Union([Type.String(), Type.Array(TextPart), Type.Null()])),
});

const options = {
	stream: Type.Optional(Type.Boolean()),
	stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
	max_tokens: Type.Optional(Type.Integer()),
	max_completion_tokens: Type.Optional(Type.Integer()),
	n: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 })),
	stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
	stop_token_ids: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
	seed: Type.Optional(Type.Integer({ minimum: 0 })),
	temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
	top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
	top_k: Type.Optional(Type.Integer({ minimum: 0 })),
	min_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
	frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
	presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
	repetition_penalty: Type.Optional(Type.Number({ minimum: 0 })),
};
const ChatBody = Type.Object({
	...options,
	messages: Type.Array(Message, { minItems: 1 }),
	response_format: Type.Optional(
		Type.Union([
			Type.Object({ type: Type.Enum(["text", "json_object"]) }),
			Type.Object({ type: Type.Literal("json_schema"), json_schema: Type.Record(Type.String(), Type.Unknown()) }),
		]),
	),
	tools: Type.Optional(Type.Array(Type.Unknown())),
	tool_choice: Type.Optional(Type.Unknown()),
});
const chatBody = checker(ChatBody);
const TextBody = Type.Object({ ...options, prompt: Type.String(), suffix: Type.Optional(Type.String()) });
const textBody = checker(TextBody);

/** The parameters for choosing the next token. */
export interface Sampling {
	readonly temperature: number;
	readonly topP: number;
	readonly topK: number;
	readonly minP: number;
	readonly frequencyPenalty: number;
	readonly presencePenalty: number;
	readonly repetitionPenalty: number;
}

export interface ChatRequest {
	readonly prompt: readonly PromptPiece[];
	/** True: the prompt is plain text, and so is the answer (`/completions`). */
	readonly isText: boolean;
	readonly stream: boolean;
	readonly includeUsage: boolean;
	/** null: the limit is that of the engine and the context. */
	readonly maxTokens: number | null;
	readonly n: number;
	readonly stops: readonly string[];
	readonly stopTokens: readonly number[];
	/** null: the caller gave none. */
	readonly seed: number | null;
	readonly sampling: Sampling;
	/** GBNF; null: free text. */
	readonly grammar: string | null;
}

/** The SmolLM2 authors' recommendation, used if the caller sets none. */
const DEFAULT_TEMPERATURE = 0.2;
const DEFAULT_TOP_P = 0.9;
/** Such a small model tends to repeat itself forever; a mild penalty prevents it. A grammar ends by itself. */
const DEFAULT_REPETITION_PENALTY = 1.1;
/** A penalty of 0 would divide by zero. */
const LEAST_REPETITION_PENALTY = 0.01;
const MAX_SEED = 2 ** 32;

function messageOf({ role, content }: Static<typeof Message>): ChatMessage {
	const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text).join("\n");
	if (role === "developer") return { role: "system", content: text };
	// The model has no tools, so a tool's message counts as the user's.
	if (role === "tool") return { role: "user", content: text };
	return { role, content: text };
}

function grammarOf(format: Static<typeof ChatBody>["response_format"]): string | null {
	if (!format || format.type === "text") return null;
	if (!("json_schema" in format)) return JSON_OBJECT_GRAMMAR;
	const schema = format.json_schema;
	// Wrapped ({name, strict, schema}) or bare: docs/chat.md
	const wrapped = typeof schema.schema === "object" && schema.schema !== null;
	try {
		return grammarForSchema(wrapped ? schema.schema : schema, wrapped && schema.strict === true);
	} catch (fault) {
		if (!(fault instanceof SchemaUnsupported)) throw fault;
		throw invalidField(["response_format", "json_schema"], fault.message);
	}
}

function refuseTools({ tools, tool_choice }: Static<typeof ChatBody>): void {
	if (tools && tools.length > 0 && tool_choice !== "none") throw invalidField(["tools"], "this model does not call functions");
}

/** Removes optional fields that are null, which count as absent: docs/chat.md */
function withoutNulls(body: unknown): unknown {
	if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
	return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

const positive = (tokens: number | undefined): number | null => (tokens !== undefined && tokens > 0 ? tokens : null);

/**
 * Parses the body of a chat request.
 * @param json the parsed body
 * @throws {ApiError} INVALID_REQUEST, naming the field
 */
export function parseChatRequest(json: unknown): ChatRequest {
	const body = withoutNulls(json);
	if (!chatBody.check(body)) throw invalidRequest(chatBody.issues(body));
	refuseTools(body);
	const prompt = renderChat(body.messages.map(messageOf));
	return { prompt, isText: false, ...optionsOf(body, grammarOf(body.response_format)) };
}

/** Parses the body of `/completions`, whose text the model continues. */
export function parseTextRequest(json: unknown): ChatRequest {
	const body = withoutNulls(json);
	if (!textBody.check(body)) throw invalidRequest(textBody.issues(body));
	if (body.suffix)
		throw invalidField(["suffix"], "this model only continues a text, and cannot fill a gap in one", "unsupported");
	return { prompt: [{ text: body.prompt, control: false }], isText: true, ...optionsOf(body, null) };
}

type Options = Omit<Static<typeof TextBody>, "prompt" | "suffix">;

function optionsOf(body: Options, grammar: string | null): Omit<ChatRequest, "prompt" | "isText"> {
	const repetitionPenalty = body.repetition_penalty ?? (grammar === null ? DEFAULT_REPETITION_PENALTY : 1);
	return {
		stream: body.stream === true,
		includeUsage: body.stream_options?.include_usage === true,
		maxTokens: positive(body.max_completion_tokens) ?? positive(body.max_tokens),
		n: body.n ?? 1,
		stops: typeof body.stop === "string" ? [body.stop] : (body.stop ?? []),
		stopTokens: body.stop_token_ids ?? [],
		seed: body.seed === undefined ? null : body.seed % MAX_SEED,
		sampling: {
			temperature: body.temperature ?? DEFAULT_TEMPERATURE,
			topP: body.top_p ?? DEFAULT_TOP_P,
			topK: body.top_k ?? 0,
			minP: body.min_p ?? 0,
			frequencyPenalty: body.frequency_penalty ?? 0,
			presencePenalty: body.presence_penalty ?? 0,
			repetitionPenalty: Math.max(repetitionPenalty, LEAST_REPETITION_PENALTY),
		},
		grammar,
	};
}

/** Returns a 400 in the form that OpenAI's clients know. */
export function contextExceeded(promptTokens: number, maxTokens: number | null, contextTokens: number): ApiError {
	const answerPart = maxTokens === null ? "" : ` and up to ${maxTokens} of the answer`;
	return new ApiError("TOO_MANY_TOKENS", {
		message: `The context holds ${contextTokens} tokens; this request has ${promptTokens} of messages${answerPart}. Shorten the messages or lower max_tokens`,
		param: "messages",
		openAiCode: "context_length_exceeded",
	});
}
