/**
 * The interface of chat forwarding for routes. Until the first data event the next target may be tried; after it the
 * stream belongs to one upstream. The table of failures: docs/chat.md
 */

import type { ModelTarget, TextModel } from "../../catalog/types.ts";
import type { TokenUsage } from "../../journal/records.ts";
import type { JsonMember, LongStrings } from "../../wire/index.ts";
import type { ChatEvent, EventFrame } from "./event-frame.ts";

export type { EventFrame, JsonMember };

export interface ChatForward {
	readonly requestId: string;
	readonly model: TextModel;
	/** The caller's body, and its top-level members. */
	readonly raw: Uint8Array;
	/** The strings that are cut in `raw`; the upstream gets them whole. */
	readonly long: LongStrings;
	readonly members: readonly JsonMember[];
	/**
	 * Top-level members to change before the dialect applies: JSON text replaces or adds, null removes. All other members
	 * go upstream byte for byte.
	 */
	readonly edits: ReadonlyMap<string, string | null>;
	readonly stream: boolean;
	/** The requested number of choices: an answer with more of them is broken. */
	readonly choices: number;
	/** True: the body is for the upstream's `/completions`, a bare text to continue. */
	readonly isText?: boolean;
	/** Set if the content is sealed for one server's key: it goes to that server alone, with the keys. */
	readonly sealed?: SealedForward | undefined;
	/** The tenant in whose share of an engine, or of an upstream's places, the request counts. */
	readonly tenant: string;
	/** Aborts when the caller leaves or the deadline passes. */
	readonly signal: AbortSignal;
	/** Called before each attempt's bytes go out. From then on a caller that leaves is charged. */
	onSent(upstream: string): void;
}

/** The keys of a sealed conversation, as the caller sent them, and the server that has the model's key. */
export interface SealedForward {
	readonly clientKey: string;
	readonly modelKey: string;
	readonly holder: ModelTarget;
}

/** A whole answer of an upstream, checked to be a chat completion, with unchanged bytes. */
export interface WholeAnswer {
	readonly upstream: string;
	/** The bytes. In an answer over 4 MiB long strings are cut here, and in `body`. */
	readonly bytes: Uint8Array;
	readonly long: LongStrings;
	/** The parsed answer. */
	readonly body: Readonly<Record<string, unknown>>;
	/** null if the upstream reported none. */
	readonly usage: TokenUsage | null;
	/** Number of attempts before this one. */
	readonly retries: number;
}

/** The events of one network read in order; `done` where the upstream's `[DONE]` followed them. */
export interface EventBatch {
	readonly events: readonly ChatEvent[];
	readonly done: boolean;
}

export interface ChatStream {
	/** Resolves at the first successful upstream headers; rejects like `opened` where no attempt gets so far. */
	readonly headers: Promise<void>;
	/** Resolves at the first event; rejects with an ApiError by the failure table, after all attempts. */
	readonly opened: Promise<unknown>;
	/**
	 * Passes every batch to `take` once, in order, including those received before the call. A promise that `take`
	 * returns is awaited before more is read. Resolves at a proper end, or where `take` cancelled. Throws what `opened`
	 * rejects with; an ApiError where the upstream failed, fell silent or sent an error event; what `take` throws.
	 */
	each(take: (batch: EventBatch) => Promise<unknown> | null): Promise<void>;
	/** The upstream in use, once one has accepted the request. */
	readonly upstream: string | null;
	readonly retries: number;
	/** The last usage that the upstream has reported, in any of the known spellings. */
	readonly usage: TokenUsage | null;
	/** Aborts the upstream at once. Safe to call twice. */
	cancel(): void;
}

export interface ChatUpstreams {
	whole(call: ChatForward): Promise<WholeAnswer>;
	stream(call: ChatForward): ChatStream;
}
