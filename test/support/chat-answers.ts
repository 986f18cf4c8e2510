/**
 * Chat completions as OpenAI documents them (API reference: chat completion object, chunk object), written
 * from that page: what a scripted upstream answers with.
 */

export interface Completion {
	readonly id: string;
	readonly object: "chat.completion";
	readonly created: number;
	readonly model: string;
	readonly choices: readonly object[];
	readonly usage?: object;
}

/** What the model of a scripted upstream "says". */
export interface Speech {
	/** Pieces of content: one chunk each. */
	readonly content: readonly string[];
	readonly reasoning?: readonly string[];
	readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: readonly string[] }[];
	readonly logprobs?: boolean;
	readonly finishReason?: "stop" | "length" | "tool_calls";
	readonly choices?: number;
}

export const PLAIN_SPEECH: Speech = { content: ["Hello", ", ", "world", "!"] };

/** Two calls at once, their arguments in fragments that end inside words, escapes and characters. */
export const TOOL_SPEECH: Speech = {
	content: [],
	toolCalls: [
		{ id: "call_a", name: "lookup", arguments: ['{"q"', ':"caf\\u00e', '9 é"', "}"] },
		{ id: "call_b", name: "weather", arguments: ['{"city":', '"Zü', 'rich"}'] },
	],
	finishReason: "tool_calls",
};

const CREATED = 1_767_225_600;

export function usageOfSpeech(speech: Speech, promptTokens = 9): object {
	const pieces =
		speech.content.length + (speech.reasoning?.length ?? 0) + (speech.toolCalls ?? []).flatMap((c) => c.arguments).length;
	const completionTokens = pieces * (speech.choices ?? 1);
	return {
		prompt_tokens: promptTokens,
		completion_tokens: completionTokens,
		total_tokens: promptTokens + completionTokens,
		prompt_tokens_details: { cached_tokens: 0 },
		completion_tokens_details: { reasoning_tokens: speech.reasoning?.length ?? 0 },
	};
}

function logprobsOf(text: string): object {
	return {
		content: [{ token: text, logprob: -0.1, bytes: [...new TextEncoder().encode(text)], top_logprobs: [] }],
		refusal: null,
	};
}

/** The whole answer. */
export function completionOf(speech: Speech, model: string, usage: object | null = usageOfSpeech(speech)): Completion {
	const finish_reason = speech.finishReason ?? "stop";
	const content = speech.content.join("");
	const message = {
		role: "assistant",
		content: speech.toolCalls && content === "" ? null : content,
		...(speech.reasoning ? { reasoning_content: speech.reasoning.join("") } : {}),
		...(speech.toolCalls
			? {
					tool_calls: speech.toolCalls.map((call) => ({
						id: call.id,
						type: "function",
						function: { name: call.name, arguments: call.arguments.join("") },
					})),
				}
			: {}),
		refusal: null,
	};
	const choices = Array.from({ length: speech.choices ?? 1 }, (_, index) => ({
		index,
		message,
		logprobs: speech.logprobs ? logprobsOf(content) : null,
		finish_reason,
	}));
	return { id: "chatcmpl-scripted", object: "chat.completion", created: CREATED, model, choices, ...(usage ? { usage } : {}) };
}

/** The chunks of the same answer, without usage and `[DONE]`. */
export function chunksOf(speech: Speech, model: string): object[] {
	const chunk = (index: number, delta: object, finish_reason: string | null = null, logprobs: object | null = null) => ({
		id: "chatcmpl-scripted",
		object: "chat.completion.chunk",
		created: CREATED,
		model,
		choices: [{ index, delta, logprobs, finish_reason }],
	});
	const chunks: object[] = [];
	for (let index = 0; index < (speech.choices ?? 1); index++) {
		chunks.push(chunk(index, { role: "assistant", content: "" }));
		for (const text of speech.reasoning ?? []) chunks.push(chunk(index, { reasoning_content: text }));
		for (const text of speech.content)
			chunks.push(chunk(index, { content: text }, null, speech.logprobs ? logprobsOf(text) : null));
		for (const [call, { id, name, arguments: fragments }] of (speech.toolCalls ?? []).entries()) {
			chunks.push(chunk(index, { tool_calls: [{ index: call, id, type: "function", function: { name, arguments: "" } }] }));
			for (const text of fragments) chunks.push(chunk(index, { tool_calls: [{ index: call, function: { arguments: text } }] }));
		}
		chunks.push(chunk(index, {}, speech.finishReason ?? "stop"));
	}
	return chunks;
}

export function usageChunk(usage: object, model: string): object {
	return { id: "chatcmpl-scripted", object: "chat.completion.chunk", created: CREATED, model, choices: [], usage };
}
