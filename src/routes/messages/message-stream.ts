import {
	type AdmittedChat,
	type AssistantOutputListener,
	AssistantOutputReader,
	type PostedCharge,
	type Segment,
	type StreamForm,
	sealThought,
} from "../../completions/index.ts";
import type { ApiError } from "../../errors/index.ts";
import { anthropicError } from "../../server/anthropic-error.ts";
import type { ChatEvent } from "../../upstreams/chat/event-frame.ts";
import { contentBlock, isRedacted, messageObject, openingMembers, ownMembers, stopOf, usageOf } from "./message-object.ts";

const PING = sse("ping", {});

export interface MessageStreamOptions {
	readonly stopSequences: readonly string[];
	/** Returns an estimate of the prompt's tokens for the first event. */
	readonly promptTokens: () => number;
}

/** Writes a chat stream as the events of a message (docs/messages.md). */
export class MessageStream implements StreamForm, AssistantOutputListener {
	readonly ping = PING;
	readonly #chat: AdmittedChat;
	readonly #inputs: MessageStreamOptions;
	readonly #reader: AssistantOutputReader;
	#hasBegun = false;

	constructor(chat: AdmittedChat, inputs: MessageStreamOptions) {
		this.#chat = chat;
		this.#inputs = inputs;
		this.#reader = new AssistantOutputReader(this, (number) => `toolu_${chat.call.requestId}${number}`);
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
		const { finishReason, stopReason, segments } = this.#reader;
		const delta = stopOf({ finishReason, stopReason, segments, stopSequences: this.#inputs.stopSequences });
		return (
			lastEvents +
			sse("message_delta", { delta, usage: usageOf(charge), ...ownMembers(this.#chat, charge) }) +
			sse("message_stop", {})
		);
	}

	failed(error: ApiError): string {
		return sse("error", anthropicError(error));
	}

	open(segment: Segment): string {
		return sse("content_block_start", { index: segment.index, content_block: beginning(segment) });
	}

	piece(segment: Segment, text: string): string {
		switch (segment.kind) {
			case "thought":
				return delta(segment, { type: "thinking_delta", thinking: text });
			case "call":
				return delta(segment, { type: "input_json_delta", partial_json: text });
			case "text":
			case "refusal":
				return delta(segment, { type: "text_delta", text });
		}
	}

	close(segment: Segment): string {
		const stop = sse("content_block_stop", { index: segment.index });
		if (segment.kind !== "thought" || isRedacted(segment)) return stop;
		return delta(segment, { type: "signature_delta", signature: sealThought(segment.details, segment.signature) }) + stop;
	}

	#begin(): string {
		if (this.#hasBegun) return "";
		this.#hasBegun = true;
		const usage = {
			input_tokens: this.#inputs.promptTokens(),
			cache_creation_input_tokens: 0,
			cache_read_input_tokens: 0,
			output_tokens: 0,
		};
		return sse("message_start", {
			message: { ...messageObject(this.#chat, { content: [], usage }), ...openingMembers(this.#chat) },
		});
	}
}

/** Returns the block before any of its content. */
function beginning(segment: Segment): object {
	if (segment.kind === "thought" && !isRedacted(segment)) return { type: "thinking", thinking: "", signature: "" };
	return segment.kind === "call"
		? { type: "tool_use", id: segment.callId, name: segment.name, input: {} }
		: contentBlock(segment);
}

function delta(segment: Segment, content: object): string {
	return sse("content_block_delta", { index: segment.index, delta: content });
}

function sse(type: string, members: object): string {
	return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
