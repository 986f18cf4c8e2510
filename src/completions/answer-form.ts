import type { Posted, TokenUsage } from "../budgets/port.ts";
import type { ApiError } from "../errors/index.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { WholeAnswer } from "../upstreams/chat/port.ts";
import type { AdmittedChat } from "./admitted-chat.ts";

/** The cost of an answer, known when it is posted, before its last byte goes out. */
export interface PostedCharge {
	readonly posted: Posted;
	readonly usage: TokenUsage;
}

/** How a route presents a model's answer. It is all that differs between the conversation routes. */
export interface AnswerForm {
	/**
	 * Reads a whole answer before it is charged. The returned function builds the body once the price is known.
	 * @throws ApiError INFERENCE_FAILED if the answer cannot be passed on
	 */
	whole(chat: AdmittedChat, answer: WholeAnswer): Promise<(charge: PostedCharge) => string | Uint8Array>;
	stream(chat: AdmittedChat): StreamForm;
	/** True: the request is for `/completions`, a bare text to continue. */
	readonly isText?: boolean;
	/** True: the route passes sealed text on unchanged; a signature covers those bytes. */
	readonly takesSealed?: boolean;
}

/** One stream of server-sent events, as text. */
export interface StreamForm {
	/** The text sent after a silence, to keep the connection open. */
	readonly ping: string;
	/** Returns the text of an upstream event; empty if the event has nothing for the caller. */
	event(event: ChatEvent): string;
	/** Returns the events that end choices past their ceiling. */
	cut(): string;
	/**
	 * Returns the last events of a complete stream.
	 * @param reportedUsage the upstream's own usage object; null if tokens were counted
	 */
	end(charge: PostedCharge, reportedUsage: Readonly<Record<string, unknown>> | null): string;
	/** Returns the last event of a stream that failed. */
	failed(error: ApiError): string;
}
