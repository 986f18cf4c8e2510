/**
 * POST /completions: OpenAI's older protocol, in which the model continues a bare text, for code completion in editors.
 * Checks, holds, upstreams and charges are those of chat. The request goes to the upstream's own /completions.
 */
import { hasFreeModel } from "../../catalog/index.ts";
import {
	type AnswerForm,
	admitChat,
	admitRenamed,
	type ChatBody,
	type ChatDeps,
	type ChatInput,
	ForwardedMembersSchema,
} from "../../completions/index.ts";
import type { Issue } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { reportIgnored } from "../../server/call-headers.ts";
import { type Admission, type Endpoint, type Input, metered } from "../../server/endpoint.ts";
import type { LongStrings } from "../../wire/index.ts";
import {
	type CompletionsBody,
	CompletionsBodySchema,
	TextCompletionSchema,
	TextEventSchema,
	withoutChatMembers,
} from "./schema.ts";
import { TextStream, textAnswer } from "./text-answer.ts";

const MAX_BODY_BYTES = 8 * 1_048_576;
/** OpenAI's default for requests without a maximum. */
const DEFAULT_MAX_TOKENS = 16;

const FORM: AnswerForm = {
	whole: async (chat, answer) => textAnswer(chat, answer),
	stream: (chat) => new TextStream(chat),
	isText: true,
};

export function completions(deps: ChatDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/completions",
		name: "completions",
		tag: "Chat",
		summary: "Complete a text",
		description:
			"OpenAI's older form: the model continues the text of `prompt`, without a conversation. With `stream: true` the answer is a stream of server-sent events that ends with `[DONE]`.",
		openAi: true,
		callers: ["key", "wallet"],
		body: { schema: CompletionsBodySchema, maxBytes: MAX_BODY_BYTES, alsoKnown: ForwardedMembersSchema },
		codes: ["TOO_MANY_TOKENS"],
		answer: {
			type: "application/json",
			schema: TextCompletionSchema,
			description: "The completion, or a stream of chunks as text/event-stream",
			events: { name: "TextCompletionEvent", schema: TextEventSchema, lastData: "[DONE]" },
		},
		mayBeFree: () => hasFreeModel(deps.catalog(), "text"),
		minuteWindow: () => ({ subject: null, limit: deps.config().limits.default }),
		admit: (input, call) => admitText({ ...input, body: input.body as CompletionsBody }, call, deps),
	});
}

function admitText(
	{ body, long }: Pick<Input<CompletionsBody, unknown>, "body" | "long">,
	call: Call,
	deps: ChatDeps,
): Promise<Admission> {
	if (body.echo === true) throw invalidField(["echo"], "the prompt is not said again; leave it out", "unsupported");
	const { model } = deps.catalog().resolve(body.model, "text", call.admittedAtMs);
	if (model.capabilities.supportsE2EE)
		throw invalidField(["model"], `${model.id} takes sealed conversations alone; use /chat/completions`, "unsupported");
	if (body.best_of !== undefined) reportIgnored(call, ["best_of"]);
	const conversation = textInput(body, long);
	return admitRenamed(renamePath, () => admitChat(conversation, call, deps, FORM));
}

/** Returns a conversation with the same text, for checks and the hold. The upstream gets the bare text. */
function textInput(request: CompletionsBody, long: LongStrings): ChatInput {
	const { model, suffix = "", stop, n, stream, stream_options, prompt_cache_key, fallbacks } = request;
	const prompt = typeof request.prompt === "string" ? request.prompt : request.prompt.join("");
	const maxTokens = request.max_tokens !== undefined && request.max_tokens > 0 ? request.max_tokens : DEFAULT_MAX_TOKENS;
	const body: ChatBody = {
		model,
		messages: [prompt, suffix].filter((text) => text !== "").map((content) => ({ role: "user", content })),
		max_tokens: maxTokens,
		service_parameters: { include_service_system_prompt: false },
		...(stop === undefined ? {} : { stop }),
		...(n === undefined ? {} : { n }),
		...(stream === undefined ? {} : { stream }),
		...(stream_options === undefined ? {} : { stream_options }),
		...(prompt_cache_key === undefined ? {} : { prompt_cache_key }),
		...(fallbacks === undefined ? {} : { fallbacks }),
	};
	const raw = Buffer.from(JSON.stringify({ ...withoutChatMembers(request), prompt, max_tokens: maxTokens }));
	return { body, raw, long };
}

function renamePath(path: Issue["path"]): Issue["path"] {
	const [first, second] = path;
	if (first === "messages") return [second === 1 ? "suffix" : "prompt"];
	return first === "max_completion_tokens" ? ["max_tokens"] : path;
}
