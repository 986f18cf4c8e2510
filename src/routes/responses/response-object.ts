import { type AdmittedChat, costOf, type PostedCharge, type Segment } from "../../completions/index.ts";
import type { ClientTools, ResponsesBody } from "../../completions/responses-form/index.ts";
import type { ApiError } from "../../errors/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import { type ItemView, outputItem } from "./output-items.ts";

/** The state of an answer, with the members of that state. */
export interface ResponseState {
	readonly status: "in_progress" | "completed" | "incomplete" | "failed";
	readonly segments: readonly Segment[];
	readonly finishReason?: string | null;
	readonly charge?: PostedCharge;
	readonly error?: ApiError;
}

/** Creates the response objects of one request, with its options and the state of the answer. */
export class ResponseObject {
	readonly #chat: AdmittedChat;
	readonly #echo: Readonly<Record<string, unknown>>;
	readonly tools: ClientTools;

	/** @param long strings of which the parsed request has only the beginning */
	constructor(chat: AdmittedChat, request: ResponsesBody, tools: ClientTools, long: LongStrings) {
		this.#chat = chat;
		this.tools = tools;
		this.#echo = echoOf(request, long);
	}

	get requestId(): string {
		return this.#chat.call.requestId;
	}

	/** Number of output items before the model's own. */
	get itemsBefore(): number {
		return this.#chat.web === null ? 0 : 1;
	}

	/** Returns the view of a segment. It has the cited sources if citations were requested. */
	get whole(): ItemView {
		const { web, echo } = this.#chat;
		const { tools } = this;
		return web !== null && echo.enable_web_citations === true ? { tools, sources: web.sources } : { tools };
	}

	/** The item that reports a web search or a read page. */
	get searchItem(): Record<string, unknown> | null {
		return this.#chat.web === null ? null : { type: "web_search_call", id: `ws_${this.requestId}`, status: "completed" };
	}

	#searched({ status }: ResponseState): Record<string, unknown>[] {
		const item = this.searchItem;
		return item === null || status === "in_progress" ? [] : [item];
	}

	#streamEcho(): Record<string, unknown> {
		const { streamEcho } = this.#chat;
		return streamEcho === null ? {} : { service_parameters: streamEcho };
	}

	make(state: ResponseState): Record<string, unknown> {
		const { call, model } = this.#chat;
		const { status, charge, error } = state;
		return {
			id: `resp_${call.requestId}`,
			object: "response",
			created_at: Math.floor(call.admittedAtMs / 1000),
			status,
			background: false,
			error: error === undefined ? null : { code: error.publicCode, message: error.message },
			incomplete_details: status === "incomplete" ? { reason: incompleteReason(state.finishReason) } : null,
			model: model.id,
			output: [...this.#searched(state), ...state.segments.map((segment) => outputItem(segment, call.requestId, this.whole))],
			...this.#echo,
			usage: charge === undefined ? null : usageOf(charge),
			...(charge === undefined ? this.#streamEcho() : { cost: costOf(charge.posted), service_parameters: this.#chat.echo }),
		};
	}
}

/** Returns the status. An answer is incomplete if the token maximum or the provider's filter cut it. */
export function statusOf(finishReason: string | null): "completed" | "incomplete" {
	return finishReason === "length" || finishReason === "content_filter" ? "incomplete" : "completed";
}

function incompleteReason(finishReason: string | null | undefined): string {
	return finishReason === "content_filter" ? "content_filter" : "max_output_tokens";
}

function usageOf({ usage }: PostedCharge) {
	return {
		input_tokens: usage.promptTokens,
		input_tokens_details: { cached_tokens: usage.cachedTokens },
		output_tokens: usage.completionTokens,
		output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
		total_tokens: usage.promptTokens + usage.completionTokens,
	};
}

/** Maximum size of the echo, which several events of a stream repeat. */
const MAX_ECHO_BYTES = 4 * 1_048_576;

/**
 * Refuses a request whose response would echo more than 4 MiB.
 * @throws ApiError INVALID_REQUEST
 */
export function refuseLongEcho(
	{ instructions, metadata, text, tools, tool_choice, prompt_cache_key }: ResponsesBody,
	long: LongStrings,
	bodyBytes: number,
): void {
	if (long.isEmpty && bodyBytes <= MAX_ECHO_BYTES) return;
	const echoed = Buffer.from(JSON.stringify({ instructions, metadata, text, tools, tool_choice, prompt_cache_key }));
	if (long.sizeIn(echoed, 0, echoed.length) > MAX_ECHO_BYTES)
		throw invalidField(
			["instructions"],
			`has, with tools and the other fields that a response repeats, more than ${MAX_ECHO_BYTES} bytes; send long texts as input`,
			"too_big",
		);
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
