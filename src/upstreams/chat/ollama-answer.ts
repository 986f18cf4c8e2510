import { isRecord } from "../../schema/is-record.ts";
import {
	callOf,
	deltaOf,
	type Fields,
	type NativeConverter,
	type NativeForm,
	recordsOf,
	textOf,
	usageObject,
} from "./native-form.ts";
import { usageOf } from "./usage.ts";

/**
 * Ollama's own API (Ollama, docs/api.md): a whole answer or one line of a stream, to a conversation with `message`, to a
 * bare text with `response`.
 */
export const OLLAMA_FORM: NativeForm = {
	matches: ({ done, message, response }) => typeof done === "boolean" && (isRecord(message) || typeof response === "string"),
	createConverter: () => new OllamaConverter(),
};

class OllamaConverter implements NativeConverter {
	#callCount = 0;

	chunk(body: Fields): Fields {
		const { model, created_at: createdAt, message, response } = body;
		const created = typeof createdAt === "string" ? Math.floor(Date.parse(createdAt) / 1000) : Number.NaN;
		const output = isRecord(message) ? { delta: this.#delta(message) } : { text: response };
		const choice = { index: 0, ...output, logprobs: null, finish_reason: this.#finishReason(body) };
		const usage = usageOf(body);
		return {
			object: "chat.completion.chunk",
			...(Number.isNaN(created) ? {} : { created }),
			model,
			choices: [choice],
			...(usage === null ? {} : { usage: usageObject({ prompt: usage.promptTokens, completion: usage.completionTokens }) }),
		};
	}

	#delta({ content, thinking, tool_calls: calls }: Fields): Fields {
		return deltaOf(
			textOf(content),
			textOf(thinking),
			recordsOf(calls).map((call) => this.#call(call)),
		);
	}

	/** Converts a call. Ollama sends each call whole, with an object of arguments. */
	#call({ id, function: called }: Fields): Fields {
		const { name, arguments: written } = isRecord(called) ? called : {};
		return callOf(this.#callCount++, id, name, written);
	}

	#finishReason({ done, done_reason: reason }: Fields): unknown {
		if (done !== true) return null;
		const isStop = reason === undefined || reason === "" || reason === "stop";
		return isStop ? (this.#callCount > 0 ? "tool_calls" : "stop") : reason;
	}
}
