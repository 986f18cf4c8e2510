import { isRecord } from "../../schema/is-record.ts";
import { argumentsText } from "./tool-call-identity.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A form of answers other than OpenAI's. A whole answer of a form is a stream of one piece. */
export interface NativeForm {
	/** Returns true for an answer of this form, or one piece of its stream. */
	matches(body: Fields): boolean;
	/** Creates the converter of one answer. */
	createConverter(): NativeConverter;
}

/** Converts the pieces of one answer to chunks of OpenAI's form. */
export interface NativeConverter {
	/** Returns the chunk of a piece; null if the piece has nothing for the caller. */
	chunk(body: Fields): Fields | null;
	/** Returns the chunk that ends a stream, in a form whose pieces have no finish reason. */
	end?(): Fields;
}

/** Token counts of a native answer. */
export interface NativeUsage {
	/** All tokens of the prompt, with those of caches. */
	readonly prompt: number;
	/** All tokens of the output, with those of thoughts. */
	readonly completion: number;
	readonly cached?: number;
	readonly cacheWrite?: number;
	readonly reasoning?: number;
}

/** Returns a usage object of OpenAI's form. */
export function usageObject({ prompt, completion, cached, cacheWrite, reasoning }: NativeUsage): Fields {
	const ofPrompt = {
		...(cached === undefined ? {} : { cached_tokens: cached }),
		...(cacheWrite === undefined ? {} : { cache_creation_tokens: cacheWrite }),
	};
	return {
		prompt_tokens: prompt,
		completion_tokens: completion,
		total_tokens: prompt + completion,
		...(Object.keys(ofPrompt).length === 0 ? {} : { prompt_tokens_details: ofPrompt }),
		...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
	};
}

/** Returns the delta of a piece's text, thoughts and calls. */
export function deltaOf(content: string, thought: string, calls: readonly Fields[]): Fields {
	return {
		role: "assistant",
		content,
		...(thought === "" ? {} : { reasoning_content: thought }),
		...(calls.length === 0 ? {} : { tool_calls: calls }),
	};
}

/** Returns the chunk of an answer with one choice. */
export function chunkOf(delta: Fields, reason: unknown): Fields {
	const choice = { index: 0, delta, logprobs: null, finish_reason: reason ?? null };
	return { object: "chat.completion.chunk", choices: [choice] };
}

/** Returns a call, or a fragment of one. A missing id is filled in where the answer is sent. */
export function callOf(index: number, id: unknown, name: unknown, written: unknown): Fields {
	const named = name === undefined ? {} : { name };
	return {
		index,
		...(typeof id === "string" ? { id } : {}),
		type: "function",
		function: { ...named, arguments: argumentsText(written) },
	};
}

/** Returns the records of an array; none for other values. */
export function recordsOf(value: unknown): Fields[] {
	return Array.isArray(value) ? (value as unknown[]).filter(isRecord) : [];
}

/** Returns a text; the empty text for other values. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** Returns a count; 0 for other values. */
export function countOf(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
