import type { ProviderName } from "../../../src/config/providers.ts";
import { missing, type ProviderScript, type Scene, sse } from "./script.ts";

/** How a provider that speaks OpenAI's form differs from it. */
interface Form {
	readonly provider: ProviderName;
	readonly model: string;
	readonly path: string;
	/** The delta, or the message, that tells thoughts; null where it tells none. */
	readonly thoughts: ((text: string) => object) | null;
	/** Where usage stands in a chunk. */
	readonly usageChunk: (usage: object) => object;
	readonly tells: ProviderScript["tells"];
	readonly errors: ProviderScript["errors"];
	readonly streamError: ProviderScript["streamError"];
	readonly asksForUsage: boolean;
}

function openAiForm(form: Form): ProviderScript {
	const base = { id: "scripted", created: 1_767_225_600, model: form.model };
	const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
		[null, { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }], ...more }] as const;
	const callsOf = ({ calls }: Scene) =>
		calls.map(({ id, name, pieces }, index) => ({ id, index, type: "function", function: { name, arguments: pieces.join("") } }));
	return {
		provider: form.provider,
		settings: { key: `key-${form.provider}-scripted` },
		model: form.model,
		path: () => form.path,
		streamType: "text/event-stream",
		tells: form.tells,
		stream(scene) {
			const { thoughts } = form;
			return sse([
				chunk({ role: "assistant", content: "" }),
				...(thoughts ? scene.thoughts.map((text) => chunk(thoughts(text))) : []),
				...scene.text.map((content) => chunk({ content })),
				...scene.calls.flatMap(({ id, name, pieces }, index) => {
					const start = { index, id, type: "function", function: { name, arguments: "" } };
					if (form.provider === "mistral")
						return [chunk({ tool_calls: [{ ...start, function: { name, arguments: pieces.join("") } }] })];
					return [
						chunk({ tool_calls: [start] }),
						...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
					];
				}),
				chunk({}, REASONS[scene.end], form.usageChunk(usageOf(scene))),
				[null, "[DONE]"],
			]);
		},
		whole(scene) {
			const content = scene.text.join("");
			const thought = form.thoughts && scene.thoughts.length > 0 ? form.thoughts(scene.thoughts.join("")) : {};
			const message = {
				role: "assistant",
				content,
				...thoughtBeside(thought, content),
				tool_calls: scene.calls.length > 0 ? callsOf(scene) : null,
			};
			return {
				...base,
				object: "chat.completion",
				choices: [{ index: 0, message, finish_reason: REASONS[scene.end] }],
				usage: usageOf(scene),
			};
		},
		complaints({ headers, body }) {
			const complaints = missing(headers.get("authorization")?.match(/^Bearer ./)?.[0], "authorization");
			if (!Array.isArray(body.messages) || body.messages.length === 0) complaints.push("messages is empty");
			if (body.tools === undefined && body.tool_choice !== undefined) complaints.push("tool_choice without tools");
			if (form.asksForUsage && body.stream === true && JSON.stringify(body.stream_options) !== '{"include_usage":true}')
				complaints.push("usage is not asked for");
			return complaints;
		},
		errors: form.errors,
		streamError: form.streamError,
	};
}

/** Mistral tells thoughts as parts of the content; others beside it. */
function thoughtBeside(thought: object, content: string): object {
	return "content" in thought && Array.isArray(thought.content)
		? { content: [...thought.content, { type: "text", text: content }] }
		: thought;
}

const REASONS: Readonly<Record<Scene["end"], string>> = {
	stop: "stop",
	length: "length",
	tool_calls: "tool_calls",
	refused: "content_filter",
};

function usageOf({ usage: { input, cached, output, thoughts } }: Scene) {
	return {
		prompt_tokens: input,
		completion_tokens: output,
		total_tokens: input + output,
		prompt_tokens_details: { cached_tokens: cached },
		completion_tokens_details: { reasoning_tokens: thoughts },
	};
}

const OPENAI_ERRORS: ProviderScript["errors"] = {
	busy: {
		status: 429,
		headers: { "retry-after": "17" },
		body: { error: { message: "Rate limit reached", type: "tokens", code: "rate_limit_exceeded" } },
	},
	account: {
		status: 401,
		body: { error: { message: "Invalid API Key", type: "invalid_request_error", code: "invalid_api_key" } },
	},
	request: {
		status: 400,
		body: { error: { message: "'messages' : minimum number of items is 1", type: "invalid_request_error" } },
	},
	missing: {
		status: 404,
		body: { error: { message: "The model `none` does not exist", type: "invalid_request_error", code: "model_not_found" } },
	},
	broken: { status: 503, body: { error: { message: "Service unavailable", type: "internal_server_error" } } },
};

/** Groq's "API Reference, Chat" and "Reasoning". */
export const groq = openAiForm({
	provider: "groq",
	model: "qwen/qwen3-32b",
	path: "/chat/completions",
	thoughts: (reasoning) => ({ reasoning }),
	usageChunk: (usage) => ({ x_groq: { id: "req_scripted", usage } }),
	tells: { cached: true, written: false, thoughts: true },
	errors: OPENAI_ERRORS,
	streamError: sse([[null, { error: { message: "Over capacity", type: "internal_server_error", code: "over_capacity" } }]]),
	asksForUsage: false,
});

/** DeepInfra's "Chat Completions" of its OpenAI-compatible API. */
export const deepinfra = openAiForm({
	provider: "deepinfra",
	model: "deepseek-ai/DeepSeek-R1",
	path: "/openai/chat/completions",
	thoughts: (text) => ({ reasoning_content: text }),
	usageChunk: (usage) => ({ usage }),
	tells: { cached: true, written: false, thoughts: true },
	errors: { ...OPENAI_ERRORS, account: { status: 401, body: { detail: { error: "Incorrect API key provided" } } } },
	streamError: sse([[null, { error: { message: "Internal error", type: "server_error", code: 500 } }]]),
	asksForUsage: true,
});

const LIKE_OPENAI = {
	thoughts: (text: string) => ({ reasoning_content: text }),
	usageChunk: (usage: object) => ({ usage }),
	tells: { cached: true, written: false, thoughts: true },
	errors: OPENAI_ERRORS,
	streamError: null,
	asksForUsage: true,
} as const;

/** Others that speak OpenAI's form, by their pages on chat completions. */
export const LIKE_OPENAI_SCRIPTS: readonly ProviderScript[] = [
	openAiForm({ ...LIKE_OPENAI, provider: "openai", model: "gpt-4.1-mini", path: "/chat/completions", thoughts: null }),
	openAiForm({ ...LIKE_OPENAI, provider: "azure", model: "my-deployment", path: "/chat/completions", thoughts: null }),
	openAiForm({ ...LIKE_OPENAI, provider: "deepseek", model: "deepseek-reasoner", path: "/chat/completions" }),
	openAiForm({ ...LIKE_OPENAI, provider: "fireworks", model: "accounts/fireworks/models/qwen3", path: "/chat/completions" }),
	openAiForm({ ...LIKE_OPENAI, provider: "togetherai", model: "Qwen/Qwen3-32B", path: "/chat/completions" }),
	openAiForm({ ...LIKE_OPENAI, provider: "cerebras", model: "qwen-3-32b", path: "/chat/completions" }),
];

/** Mistral's "Chat Completion" and "Reasoning": tool calls come whole. */
export const mistral = openAiForm({
	provider: "mistral",
	model: "magistral-medium-2507",
	path: "/chat/completions",
	thoughts: (text) => ({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] }),
	usageChunk: (usage) => ({ usage }),
	tells: { cached: true, written: false, thoughts: false },
	errors: {
		busy: { status: 429, body: { object: "error", message: "Requests rate limit exceeded", type: "rate_limited", code: "1300" } },
		account: { status: 401, body: { detail: "Unauthorized" } },
		request: {
			status: 422,
			body: { detail: [{ type: "missing", loc: ["body", "messages"], msg: "Field required" }] },
		},
		missing: { status: 400, body: { object: "error", message: "Invalid model: none", type: "invalid_model", code: "1500" } },
		broken: {
			status: 500,
			body: { object: "error", message: "Service unavailable.", type: "internal_server_error", code: "3505" },
		},
	},
	streamError: null,
	asksForUsage: false,
});
