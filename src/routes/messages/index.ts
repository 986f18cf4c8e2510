/**
 * POST /messages and /messages/count_tokens: Anthropic's Messages API on the chat pipeline, so Claude clients run on
 * every model with the same checks, holds, upstreams and charges. Errors, events and headers are Anthropic's. Model
 * names go through the compatibility map.
 */
import { checkModelRule } from "../../access/index.ts";
import { hasFreeModel } from "../../catalog/index.ts";
import {
	type AnswerForm,
	AssistantOutputReader,
	admitChat,
	admitRenamed,
	type ChatDeps,
	type ChatInput,
	chatInput,
	countPrompt,
	PromptText,
	refuseDeepNesting,
	withRenamedFields,
} from "../../completions/index.ts";
import type { Call } from "../../server/call.ts";
import { reportIgnored } from "../../server/call-headers.ts";
import { type Endpoint, type Input, json, metered, plain } from "../../server/endpoint.ts";
import { MessageEventSchema, MessageSchema, TokenCountSchema } from "./answer-schema.ts";
import { chatRequest, type MessagesChat } from "./chat-request.ts";
import { contentBlock, messageObject, ownMembers, stopOf, usageOf } from "./message-object.ts";
import { MessageStream } from "./message-stream.ts";
import { type CountTokensBody, CountTokensBodySchema, type MessagesBody, MessagesBodySchema } from "./schema.ts";

const MAX_BODY_BYTES = 72 * 1_048_576;
/** Average bytes of an English token. */
const BYTES_PER_TOKEN = 4;

const MEDIA_CODES = ["CORRUPTED_IMAGE", "IMAGE_TOO_SMALL", "IMAGE_TOO_LARGE", "TOO_MANY_TOKENS", "CHARACTER_NOT_FOUND"] as const;

export function messages(deps: ChatDeps): Endpoint[] {
	return [
		metered({
			method: "POST",
			path: "/messages",
			name: "messages",
			tag: "Chat",
			summary: "Message",
			description:
				"Anthropic-compatible; the base URL for its clients ends with `/api`. With `stream: true` the answer is a stream of server-sent events that ends with `message_stop`.",
			openAi: false,
			anthropic: true,
			callers: ["key", "wallet"],
			body: { schema: MessagesBodySchema, maxBytes: MAX_BODY_BYTES },
			codes: MEDIA_CODES,
			answer: {
				type: "application/json",
				schema: MessageSchema,
				description: "The message, or a stream of events as text/event-stream",
				events: { name: "MessageEvent", schema: MessageEventSchema },
			},
			mayBeFree: () => hasFreeModel(deps.catalog(), "text"),
			minuteWindow: () => ({ subject: null, limit: deps.config().limits.default }),
			async admit(input, call) {
				const body = input.body as MessagesBody;
				const { converted, chatBody } = read({ ...input, body }, call, deps);
				return admitRenamed(converted.rename, () => admitChat(chatBody, call, deps, formOf(body, chatBody)));
			},
		}),
		plain({
			method: "POST",
			path: "/messages/count_tokens",
			name: "messages-count-tokens",
			tag: "Chat",
			summary: "Count the tokens of a message",
			description: "The count is this service's own. The route is free.",
			openAi: false,
			anthropic: true,
			callers: ["key", "wallet"],
			listLimit: false,
			minuteLimit: { subject: "messages-count-tokens", requests: () => deps.config().limits.listRequestsPerMinute },
			body: { schema: CountTokensBodySchema, maxBytes: MAX_BODY_BYTES },
			codes: ["MODEL_NOT_FOUND", "MODEL_REMOVED", "MODEL_OFFLINE", "INVALID_MODEL", ...MEDIA_CODES],
			answer: { type: "application/json", schema: TokenCountSchema, description: "The count" },
			async run(input, call) {
				const { converted, chatBody } = read({ ...input, body: input.body as CountTokensBody }, call, deps);
				const tokens = await withRenamedFields(converted.rename, () => countPrompt(chatBody, call, deps));
				return json({ input_tokens: tokens });
			},
		}),
	];
}

function read(
	{ body, raw, long }: Pick<Input<MessagesBody | CountTokensBody, unknown>, "body" | "raw" | "long">,
	call: Call,
	deps: ChatDeps,
): { readonly converted: MessagesChat; readonly chatBody: ChatInput } {
	refuseDeepNesting(raw);
	const { model } = deps.catalog().resolve(body.model, "text", call.admittedAtMs);
	if (call.caller !== null) checkModelRule(call.caller, model.id);
	const converted = chatRequest(body, model, long);
	reportIgnored(call, converted.ignored);
	return { converted, chatBody: chatInput(converted.body, long) };
}

function formOf({ stop_sequences: stopSequences = [] }: MessagesBody, chatBody: ChatInput): AnswerForm {
	const promptTokens = () => Math.ceil(new PromptText(chatBody.body, "", chatBody.long).bytes / BYTES_PER_TOKEN);
	return {
		async whole(chat, answer) {
			const { segments, finishReason, stopReason } = await AssistantOutputReader.answer(
				answer,
				(number) => `toolu_${chat.call.requestId}${number}`,
			);
			const stop = stopOf({ segments, finishReason, stopReason, stopSequences });
			const content = segments.map(contentBlock);
			return (charge) =>
				JSON.stringify({ ...messageObject(chat, { content, stop, usage: usageOf(charge) }), ...ownMembers(chat, charge) });
		},
		stream: (chat) => new MessageStream(chat, { stopSequences, promptTokens }),
	};
}
