import { type AdmittedChat, costOf, type PostedCharge, type Segment, sealThought } from "../../completions/index.ts";
import { innerJson } from "../../wire/index.ts";

/** Anthropic's names of the reasons why a model stopped. */
export interface Stop {
	readonly stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";
	readonly stop_sequence: string | null;
}

/** The end that an upstream reported, and the requested stop options. */
export interface Ending {
	readonly finishReason: string | null;
	/** The stop sequence that ended the answer, if the upstream names it. */
	readonly stopReason: string | null;
	readonly stopSequences: readonly string[];
	readonly segments: readonly Segment[];
}

export function stopOf({ finishReason, stopReason, stopSequences, segments }: Ending): Stop {
	const because = (stop_reason: Stop["stop_reason"], stop_sequence: string | null = null) => ({ stop_reason, stop_sequence });
	if (finishReason === "length") return because("max_tokens");
	if (finishReason === "content_filter") return because("refusal");
	if (finishReason === "tool_calls" || segments.some(({ kind }) => kind === "call")) return because("tool_use");
	if (stopReason !== null && stopSequences.includes(stopReason)) return because("stop_sequence", stopReason);
	return because("end_turn");
}

/** Returns the message of an answer, complete or at its beginning. */
export function messageObject(
	{ call, model }: AdmittedChat,
	parts: { readonly content: readonly object[]; readonly usage: object; readonly stop?: Stop },
): Record<string, unknown> {
	return {
		id: `msg_${call.requestId}`,
		type: "message",
		role: "assistant",
		model: model.id,
		content: parts.content,
		stop_reason: parts.stop?.stop_reason ?? null,
		stop_sequence: parts.stop?.stop_sequence ?? null,
		usage: parts.usage,
	};
}

/** Returns the members of the answer beside Anthropic's. */
export function ownMembers({ echo }: AdmittedChat, { posted }: PostedCharge) {
	return { cost: costOf(posted), service_parameters: echo };
}

/** Returns the echo if an answer begins with it. */
export function openingMembers({ streamEcho }: AdmittedChat) {
	return streamEcho === null ? {} : { service_parameters: streamEcho };
}

/**
 * Returns the usage. Anthropic counts tokens read from a cache, and written to one, apart from the rest of the input.
 */
export function usageOf({ usage }: PostedCharge) {
	return {
		input_tokens: usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens,
		cache_creation_input_tokens: usage.cacheWriteTokens,
		cache_read_input_tokens: usage.cachedTokens,
		output_tokens: usage.completionTokens,
	};
}

/** Returns true for a thought without text: it has only what its provider needs back. */
export function isRedacted(segment: Segment): boolean {
	return segment.text === "" && (segment.details.length > 0 || segment.signature !== null);
}

/** Returns a segment as a content block. */
export function contentBlock(segment: Segment): object {
	switch (segment.kind) {
		case "thought": {
			const sealed = sealThought(segment.details, segment.signature);
			if (isRedacted(segment)) return { type: "redacted_thinking", data: sealed };
			return { type: "thinking", thinking: segment.text, signature: sealed };
		}
		case "call":
			return { type: "tool_use", id: segment.callId, name: segment.name, input: inputOf(segment.text) };
		case "text":
		case "refusal":
			return { type: "text", text: segment.text, citations: null };
	}
}

/** Returns a call's arguments. Invalid JSON, such as that of a cut-off answer, stays a text. */
function inputOf(text: string): unknown {
	try {
		return text.trim() === "" ? {} : innerJson(text);
	} catch {
		return text;
	}
}
