/**
 * POST /chat/completions: OpenAI's form in and out. The bytes of `choices` are the upstream's. One call has one charge.
 * A caller that leaves pays for exactly the work done. Prompts are never logged.
 */
import { hasFreeModel } from "../../catalog/index.ts";
import {
	type AnswerForm,
	admitChat,
	type ChatBody,
	ChatBodySchema,
	type ChatDeps,
	ForwardedMembersSchema,
} from "../../completions/index.ts";
import { reportIgnored } from "../../server/call-headers.ts";
import { type Endpoint, metered } from "../../server/endpoint.ts";
import { ChatCompletionSchema, ChatEventSchema } from "./answer-schema.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import { asFunctionCall } from "./older-functions.ts";
import { inChatForm } from "./other-forms.ts";
import { wholeAnswer } from "./whole-answer.ts";

const MAX_BODY_BYTES = 72 * 1_048_576;

const FORM: AnswerForm = { whole: wholeAnswer, stream: (chat) => new ChunkWriter(chat), takesSealed: true };
/** The form for callers that use the older functions. */
const FUNCTIONS_FORM: AnswerForm = {
	...FORM,
	whole: (chat, answer) => wholeAnswer(chat, answer, asFunctionCall),
	stream: (chat) => new ChunkWriter(chat, asFunctionCall),
};

export function chatCompletions(deps: ChatDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/chat/completions",
		name: "chat",
		tag: "Chat",
		summary: "Chat completion",
		description: "OpenAI-compatible. With `stream: true` the answer is a stream of server-sent events that ends with `[DONE]`.",
		openAi: true,
		callers: ["key", "wallet"],
		body: { schema: ChatBodySchema, maxBytes: MAX_BODY_BYTES, alsoKnown: ForwardedMembersSchema, rewrite: inChatForm },
		codes: [
			"CORRUPTED_IMAGE",
			"IMAGE_TOO_SMALL",
			"IMAGE_TOO_LARGE",
			"INVALID_AUDIO_FORMAT",
			"INVALID_VIDEO_FORMAT",
			"CONTENT_POLICY_VIOLATION",
			"TOO_MANY_TOKENS",
			"CHARACTER_NOT_FOUND",
		],
		answer: {
			type: "application/json",
			schema: ChatCompletionSchema,
			description: "The completion, or a stream of chunks as text/event-stream",
			events: { name: "ChatCompletionEvent", schema: ChatEventSchema, lastData: "[DONE]" },
		},
		mayBeFree: () => hasFreeModel(deps.catalog(), "text"),
		minuteWindow: () => ({ subject: null, limit: deps.config().limits.default }),
		admit: (input, call) => {
			const body = input.body as ChatBody;
			if (body.function_call !== undefined) reportIgnored(call, ["function_call"]);
			const hasFunctions = body.functions !== undefined && body.functions.length > 0;
			return admitChat({ ...input, body }, call, deps, hasFunctions ? FUNCTIONS_FORM : FORM);
		},
	});
}
