import {
	type AdmittedChat,
	type AssistantOutputListener,
	AssistantOutputReader,
	type PostedCharge,
	type Segment,
	type StreamForm,
} from "../../completions/index.ts";
import type { ClientTool } from "../../completions/responses-form/index.ts";
import type { ApiError } from "../../errors/index.ts";
import type { ChatEvent } from "../../upstreams/chat/event-frame.ts";
import { contentPart, freeInput, itemId, outputItem, summaryPart } from "./output-items.ts";
import { type ResponseObject, statusOf } from "./response-object.ts";

const PING = ": ping\n\n";

/** Writes a chat stream as the events of a response, in OpenAI's order (docs/responses.md). */
export class ResponseStream implements StreamForm, AssistantOutputListener {
	readonly ping = PING;
	readonly #response: ResponseObject;
	readonly #reader: AssistantOutputReader;
	#hasBegun = false;
	#sequence = 0;

	constructor(chat: AdmittedChat, response: ResponseObject) {
		this.#response = response;
		this.#reader = new AssistantOutputReader(this, (number) => `call_${chat.call.requestId}${number}`);
	}

	event(event: ChatEvent): string {
		return this.#begin() + this.#reader.take(event);
	}

	cut(): string {
		this.#reader.finishReason = "length";
		return this.#begin() + this.#reader.end();
	}

	end(charge: PostedCharge): string {
		const lastEvents = this.#begin() + this.#reader.end();
		const { segments, finishReason } = this.#reader;
		const status = statusOf(finishReason);
		return (
			lastEvents + this.#sse(`response.${status}`, { response: this.#response.make({ status, segments, finishReason, charge }) })
		);
	}

	failed(error: ApiError): string {
		const opening = this.#begin();
		this.#reader.breakOff();
		const { segments } = this.#reader;
		return opening + this.#sse("response.failed", { response: this.#response.make({ status: "failed", segments, error }) });
	}

	open(segment: Segment): string {
		const added = this.#sse("response.output_item.added", {
			output_index: this.#place(segment),
			item: outputItem(segment, this.#response.requestId, { isNew: true, tools: this.#response.tools }),
		});
		if (segment.kind === "call") return added;
		if (segment.kind === "thought")
			return added + this.#at(segment, "response.reasoning_summary_part.added", { summary_index: 0, part: summaryPart("") });
		return (
			added + this.#at(segment, "response.content_part.added", { content_index: 0, part: contentPart(segment, { isNew: true }) })
		);
	}

	piece(segment: Segment, delta: string, logprobs: readonly unknown[]): string {
		switch (segment.kind) {
			case "call":
				return this.#kindOf(segment) === "function" ? this.#at(segment, "response.function_call_arguments.delta", { delta }) : "";
			case "thought":
				return this.#at(segment, "response.reasoning_summary_text.delta", { summary_index: 0, delta });
			case "refusal":
				return this.#at(segment, "response.refusal.delta", { content_index: 0, delta });
			case "text":
				return this.#at(segment, "response.output_text.delta", { content_index: 0, delta, logprobs });
		}
	}

	close(segment: Segment): string {
		const item = outputItem(segment, this.#response.requestId, this.#response.whole);
		return this.#contentDone(segment) + this.#sse("response.output_item.done", { output_index: this.#place(segment), item });
	}

	#contentDone(segment: Segment): string {
		const { text } = segment;
		if (segment.kind === "call") return this.#callDone(segment);
		if (segment.kind === "thought")
			return (
				this.#at(segment, "response.reasoning_summary_text.done", { summary_index: 0, text }) +
				this.#at(segment, "response.reasoning_summary_part.done", { summary_index: 0, part: summaryPart(text) })
			);
		const textDone =
			segment.kind === "refusal"
				? this.#at(segment, "response.refusal.done", { content_index: 0, refusal: text })
				: this.#at(segment, "response.output_text.done", { content_index: 0, text, logprobs: segment.logprobs });
		return (
			textDone +
			this.#at(segment, "response.content_part.done", { content_index: 0, part: contentPart(segment, this.#response.whole) })
		);
	}

	/** Returns the input of a free-form tool as one event, since its JSON can be parsed only at its end. */
	#callDone(segment: Segment): string {
		const { text } = segment;
		const { kind, name } = this.#response.tools.toolOf(segment.name);
		if (kind === "function") return this.#at(segment, "response.function_call_arguments.done", { name, arguments: text });
		if (kind !== "custom") return "";
		const input = freeInput(text);
		return (
			this.#at(segment, "response.custom_tool_call_input.delta", { delta: input }) +
			this.#at(segment, "response.custom_tool_call_input.done", { input })
		);
	}

	#kindOf(segment: Segment): ClientTool["kind"] {
		return this.#response.tools.toolOf(segment.name).kind;
	}

	#begin(): string {
		if (this.#hasBegun) return "";
		this.#hasBegun = true;
		const response = this.#response.make({ status: "in_progress", segments: [] });
		return this.#sse("response.created", { response }) + this.#sse("response.in_progress", { response }) + this.#searched();
	}

	/** Returns the events of a search that ran before the model. */
	#searched(): string {
		const item = this.#response.searchItem;
		if (item === null) return "";
		const added = { output_index: 0, item: { ...item, status: "in_progress" } };
		return (
			this.#sse("response.output_item.added", added) +
			this.#sse("response.web_search_call.completed", { output_index: 0, item_id: item.id }) +
			this.#sse("response.output_item.done", { output_index: 0, item })
		);
	}

	#place(segment: Segment): number {
		return segment.index + this.#response.itemsBefore;
	}

	#at(segment: Segment, type: string, members: object): string {
		return this.#sse(type, {
			item_id: itemId(segment, this.#response.requestId, this.#response.tools),
			output_index: this.#place(segment),
			...members,
		});
	}

	#sse(type: string, members: object): string {
		return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...members })}\n\n`;
	}
}
