import { type ChatSession, costOf, type Paid, type Segment } from "../../completions/index.ts";
import type { ApiError } from "../../errors/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import { outputItem } from "./output-items.ts";
import type { ResponsesBody } from "./schema.ts";

/** How an answer stands, and what belongs to that. */
export interface ResponseState {
	readonly status: "in_progress" | "completed" | "incomplete" | "failed";
	readonly segments: readonly Segment[];
	readonly finishReason?: string | null;
	readonly paid?: Paid;
	readonly error?: ApiError;
}

/** Makes the response objects of one request: its options echoed, and the state of the answer. */
export class ResponseObject {
	readonly #session: ChatSession;
	readonly #echo: Readonly<Record<string, unknown>>;

	/** @param long strings of which the parsed request has only the beginning */
	constructor(session: ChatSession, request: ResponsesBody, long: LongStrings) {
		this.#session = session;
		this.#echo = echoOf(request, long);
	}

	get requestId(): string {
		return this.#session.call.requestId;
	}

	make(state: ResponseState): Record<string, unknown> {
		const { call, model } = this.#session;
		const { status, paid, error } = state;
		return {
			id: `resp_${call.requestId}`,
			object: "response",
			created_at: Math.floor(call.admittedAtMs / 1000),
			status,
			background: false,
			error: error === undefined ? null : { code: error.publicCode, message: error.message },
			incomplete_details: status === "incomplete" ? { reason: incompleteReason(state.finishReason) } : null,
			model: model.id,
			output: state.segments.map((segment) => outputItem(segment, call.requestId)),
			...this.#echo,
			usage: paid === undefined ? null : usageOf(paid),
			...(paid === undefined ? {} : { cost: costOf(paid.posted), service_parameters: this.#session.echo }),
		};
	}
}

/** Cut by the maximum of tokens, or by a filter of the model's provider. */
export function statusOf(finishReason: string | null): "completed" | "incomplete" {
	return finishReason === "length" || finishReason === "content_filter" ? "incomplete" : "completed";
}

function incompleteReason(finishReason: string | null | undefined): string {
	return finishReason === "content_filter" ? "content_filter" : "max_output_tokens";
}

function usageOf({ usage }: Paid) {
	return {
		input_tokens: usage.promptTokens,
		input_tokens_details: { cached_tokens: usage.cachedTokens },
		output_tokens: usage.completionTokens,
		output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
		total_tokens: usage.promptTokens + usage.completionTokens,
	};
}

function echoOf(request: ResponsesBody, long: LongStrings): Record<string, unknown> {
	const { reasoning, text } = request;
	const echo = {
		instructions: request.instructions ?? null,
		max_output_tokens: request.max_output_tokens ?? null,
		metadata: request.metadata ?? {},
		parallel_tool_calls: request.parallel_tool_calls ?? true,
		previous_response_id: null,
		prompt_cache_key: request.prompt_cache_key ?? null,
		reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
		store: false,
		temperature: request.temperature ?? null,
		text: { format: text?.format ?? { type: "text" }, ...(text?.verbosity ? { verbosity: text.verbosity } : {}) },
		tool_choice: request.tool_choice ?? "auto",
		tools: request.tools ?? [],
		top_logprobs: request.top_logprobs ?? 0,
		top_p: request.top_p ?? null,
		truncation: request.truncation ?? "disabled",
	};
	return JSON.parse(long.jsonOf(echo)) as typeof echo;
}
