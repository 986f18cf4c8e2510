import type { Posted, TokenUsage } from "../budgets/port.ts";
import type { ApiError } from "../errors/index.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { WholeAnswer } from "../upstreams/chat/port.ts";
import type { ChatSession } from "./session.ts";

/** What an answer has cost: known when it is posted, before its last byte goes out. */
export interface PostedCharge {
	readonly posted: Posted;
	readonly usage: TokenUsage;
}

/** How a route tells what a model says: all that differs between the routes of this road. */
export interface AnswerForm {
	/**
	 * Reads a whole answer before it is charged, and throws INFERENCE_FAILED where it cannot be passed on. What it
	 * returns makes the body once the price is known.
	 */
	whole(session: ChatSession, answer: WholeAnswer): Promise<(paid: PostedCharge) => string | Uint8Array>;
	stream(session: ChatSession): StreamForm;
	/** True: the request is one of `/completions`, a bare text to go on with. */
	readonly isText?: boolean;
	/** True: it brings sealed text as it came, and its bytes are those that a signature is of. */
	readonly takesSealed?: boolean;
}

/** One stream of server-sent events, as text. */
export interface StreamForm {
	/** Sent after silence. */
	readonly ping: string;
	/** One event of the upstream; empty where it brings nothing for the caller. */
	event(event: ChatEvent): string;
	/** Ends choices that passed their ceiling. */
	cut(): string;
	/** The last events of a complete stream. `told` is the upstream's own usage object; null where tokens were counted. */
	end(paid: PostedCharge, told: Readonly<Record<string, unknown>> | null): string;
	/** The last event of a stream that broke. */
	failed(error: ApiError): string;
}
