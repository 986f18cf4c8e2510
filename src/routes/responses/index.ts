/**
 * POST /responses: OpenAI's Responses API on the chat pipeline, so every model has it with the same checks, holds,
 * upstreams and charges. Nothing is stored between requests, and options that need storage are refused.
 */
import { hasFreeModel } from "../../catalog/index.ts";
import {
	type AnswerForm,
	admitChat,
	admitRenamed,
	type ChatDeps,
	chatInput,
	refuseDeepNesting,
} from "../../completions/index.ts";
import type { ClientTools } from "../../completions/responses-form/index.ts";
import { chatRequest, type ResponsesBody, ResponsesBodySchema } from "../../completions/responses-form/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { reportIgnored } from "../../server/call-headers.ts";
import { type Admission, type Endpoint, type Input, metered } from "../../server/endpoint.ts";
import type { LongStrings } from "../../wire/index.ts";
import { ResponseEventSchema, ResponseSchema } from "./answer-schema.ts";
import { ResponseObject, refuseLongEcho } from "./response-object.ts";
import { ResponseStream } from "./response-stream.ts";
import { wholeResponse } from "./whole-response.ts";

const MAX_BODY_BYTES = 72 * 1_048_576;

export function responses(deps: ChatDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/responses",
		name: "responses",
		tag: "Chat",
		summary: "Response",
		description:
			"OpenAI's Responses API, stateless. With `stream: true` the answer is a stream of server-sent events that ends with `response.completed`, `response.incomplete` or `response.failed`.",
		openAi: true,
		callers: ["key", "wallet"],
		body: { schema: ResponsesBodySchema, maxBytes: MAX_BODY_BYTES },
		codes: ["CORRUPTED_IMAGE", "IMAGE_TOO_SMALL", "IMAGE_TOO_LARGE", "TOO_MANY_TOKENS", "CHARACTER_NOT_FOUND"],
		answer: {
			type: "application/json",
			schema: ResponseSchema,
			description: "The response, or a stream of events as text/event-stream",
			events: { name: "ResponseEvent", schema: ResponseEventSchema },
		},
		mayBeFree: () => hasFreeModel(deps.catalog(), "text"),
		minuteWindow: () => ({ subject: null, limit: deps.config().limits.default }),
		admit: (input, call) => admitResponse({ ...input, body: input.body as ResponsesBody }, call, deps),
	});
}

async function admitResponse(
	{ body, raw, long }: Pick<Input<ResponsesBody, unknown>, "body" | "raw" | "long">,
	call: Call,
	deps: ChatDeps,
): Promise<Admission> {
	refuseDeepNesting(raw);
	refuseLongEcho(body, long, raw.length);
	const { model } = deps.catalog().resolve(body.model, "text", call.admittedAtMs);
	if (model.capabilities.supportsE2EE)
		throw invalidField(
			["model"],
			`${model.id} takes sealed conversations, which this route cannot; use /chat/completions`,
			"unsupported",
		);
	const chat = chatRequest(body, long);
	reportIgnored(call, chat.ignored);
	return admitRenamed(chat.rename, () => admitChat(chatInput(chat.body, long), call, deps, formOf(body, chat.tools, long)));
}

function formOf(request: ResponsesBody, tools: ClientTools, long: LongStrings): AnswerForm {
	return {
		whole: (chat, answer) => wholeResponse(chat, answer, new ResponseObject(chat, request, tools, long)),
		stream: (chat) => new ResponseStream(chat, new ResponseObject(chat, request, tools, long)),
	};
}
