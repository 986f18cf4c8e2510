import { isRecord } from "../../schema/is-record.ts";
import {
	callOf,
	countOf,
	deltaOf,
	type Fields,
	type NativeConverter,
	type NativeForm,
	recordsOf,
	textOf,
	usageObject,
} from "./native-form.ts";

/** Gemini's `generateContent` and `streamGenerateContent` (Gemini API reference, GenerateContentResponse). */
export const GEMINI_FORM: NativeForm = {
	matches: ({ candidates, promptFeedback, usageMetadata }) =>
		Array.isArray(candidates) || isRecord(promptFeedback) || isRecord(usageMetadata),
	createConverter: () => new GeminiConverter(),
};

class GeminiConverter implements NativeConverter {
	/** Number of calls so far, by choice. */
	readonly #callCounts = new Map<unknown, number>();

	chunk(body: Fields): Fields {
		const { candidates, promptFeedback, usageMetadata, modelVersion, responseId, createTime } = body;
		const created = typeof createTime === "string" ? Math.floor(Date.parse(createTime) / 1000) : Number.NaN;
		const choices = recordsOf(candidates).map((candidate, place) => this.#choice(candidate, place));
		return {
			...(typeof responseId === "string" ? { id: responseId } : {}),
			object: "chat.completion.chunk",
			...(Number.isNaN(created) ? {} : { created }),
			model: modelVersion,
			choices: choices.length === 0 && isBlocked(promptFeedback) ? [BLOCKED] : choices,
			...(isRecord(usageMetadata) ? { usage: usageOfMetadata(usageMetadata) } : {}),
		};
	}

	#choice({ index = 0, content, finishReason }: Fields, place: number): Fields {
		const at = typeof index === "number" ? index : place;
		const parts = isRecord(content) ? recordsOf(content.parts) : [];
		const texts = parts.filter(({ thought }) => thought !== true).map(({ text }) => textOf(text));
		const thoughts = parts.filter(({ thought }) => thought === true).map(({ text }) => textOf(text));
		const calls = parts.map(({ functionCall }) => functionCall).filter(isRecord);
		const delta = deltaOf(
			texts.join(""),
			thoughts.join(""),
			calls.map((call) => this.#call(at, call)),
		);
		const isCall = finishReason === "STOP" && this.#callCounts.has(at);
		return { index: at, delta, logprobs: null, finish_reason: isCall ? "tool_calls" : (finishReason ?? null) };
	}

	/** Converts a call. Gemini sends each call whole, and leaves out `args` that are empty. */
	#call(choice: unknown, { id, name, args = {} }: Fields): Fields {
		const index = this.#callCounts.get(choice) ?? 0;
		this.#callCounts.set(choice, index + 1);
		return callOf(index, id, name, args);
	}
}

/** The choice of a prompt that was blocked, for which Gemini makes no candidate. */
const BLOCKED: Fields = { index: 0, delta: deltaOf("", "", []), logprobs: null, finish_reason: "content_filter" };

function isBlocked(promptFeedback: unknown): boolean {
	return isRecord(promptFeedback) && typeof promptFeedback.blockReason === "string";
}

function usageOfMetadata(usage: Fields): Fields {
	const reasoning = countOf(usage.thoughtsTokenCount);
	return usageObject({
		prompt: countOf(usage.promptTokenCount) + countOf(usage.toolUsePromptTokenCount),
		completion: countOf(usage.candidatesTokenCount) + reasoning,
		cached: countOf(usage.cachedContentTokenCount),
		reasoning,
	});
}
