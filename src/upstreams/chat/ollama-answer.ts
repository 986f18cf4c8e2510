import { isRecord } from "../../schema/is-record.ts";
import { argumentsText } from "./tool-call-identity.ts";
import { usageOf } from "./usage.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * An answer of Ollama's own API, or one line of its stream (Ollama, docs/api.md): to a conversation with `message`, to a
 * bare text with `response`.
 */
interface OllamaAnswer extends Fields {
	readonly done: boolean;
}

export function isOllamaAnswer(body: unknown): body is OllamaAnswer {
	if (!isRecord(body) || body.choices !== undefined || typeof body.done !== "boolean") return false;
	return isRecord(body.message) || typeof body.response === "string";
}

/** Converts the lines of one stream to chunks. A whole answer is a stream of one line. */
export class OllamaChunks {
	#callCount = 0;

	chunk(body: OllamaAnswer): Fields {
		const { model, created_at: createdAt, message, response } = body;
		const created = typeof createdAt === "string" ? Math.floor(Date.parse(createdAt) / 1000) : Number.NaN;
		const said = isRecord(message) ? { delta: this.#delta(message) } : { text: response };
		const choice = { index: 0, ...said, logprobs: null, finish_reason: this.#finishReason(body) };
		const usage = usageOf(body);
		return {
			object: "chat.completion.chunk",
			...(Number.isNaN(created) ? {} : { created }),
			model,
			choices: [choice],
			...(usage === null ? {} : { usage: usageObject(usage) }),
		};
	}

	#delta({ content, thinking, tool_calls: calls }: Fields): Fields {
		const called = Array.isArray(calls) ? (calls as unknown[]).filter(isRecord) : [];
		return {
			role: "assistant",
			content: typeof content === "string" ? content : "",
			...(typeof thinking === "string" && thinking !== "" ? { reasoning_content: thinking } : {}),
			...(called.length === 0 ? {} : { tool_calls: called.map((call) => this.#call(call)) }),
		};
	}

	/** Converts a call. Ollama sends each call whole, with an object of arguments. */
	#call({ id, function: called }: Fields): Fields {
		const { name, arguments: written } = isRecord(called) ? called : {};
		const part = { type: "function", function: { name, arguments: argumentsText(written) } };
		return { index: this.#callCount++, ...(typeof id === "string" ? { id } : {}), ...part };
	}

	#finishReason({ done, done_reason: reason }: OllamaAnswer): unknown {
		if (!done) return null;
		const isStop = reason === undefined || reason === "" || reason === "stop";
		return isStop ? (this.#callCount > 0 ? "tool_calls" : "stop") : reason;
	}
}

function usageObject({
	promptTokens,
	completionTokens,
}: {
	readonly promptTokens: number;
	readonly completionTokens: number;
}): Fields {
	return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens };
}
