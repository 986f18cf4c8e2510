/**
 * Chat forwarding as the route sees it. Everything up to the first data event may be tried on the next
 * target; after it the stream belongs to one upstream. The table of failures: docs/chat.md
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
	/** The strings of it that are cut, and go to the upstream whole. */
	readonly long: LongStrings;
	readonly members: readonly JsonMember[];
	/**
	 * Top-level members to change before the dialect sees them: JSON text replaces or adds, null removes.
	 * Members that nobody edits go upstream byte for byte.
	 */
	readonly edits: ReadonlyMap<string, string | null>;
	readonly stream: boolean;
	/** How many were asked for: an answer with more of them is broken. */
	readonly choices: number;
	/** True: the body is one of `/completions`, a bare text to go on with, and its server is asked there. */
	readonly isText?: boolean;
	/** Set where what is said is sealed for one server's key: it goes to that server alone, with the keys. */
	readonly sealed?: SealedForward | undefined;
	/** Whose share of an engine, or of an upstream's places, it counts in. */
	readonly tenant: string;
	/** Aborts when the caller leaves or the deadline passes. */
	readonly signal: AbortSignal;
	/** Called before each try's bytes go out: from here on leaving is billed. */
	onSent(upstream: string): void;
}

/** The keys of a sealed conversation, as the caller gave them, and who holds the model's. */
export interface SealedForward {
	readonly clientKey: string;
	readonly modelKey: string;
	readonly holder: ModelTarget;
}

/** A whole answer of an upstream: checked to be a chat completion, bytes untouched. */
export interface WholeAnswer {
	readonly upstream: string;
	/** Of an answer over 4 MiB, long strings are cut here, and in `body`. */
	readonly bytes: Uint8Array;
	readonly long: LongStrings;
	/** Parsed. */
	readonly body: Readonly<Record<string, unknown>>;
	/** null where the upstream gave none. */
	readonly usage: TokenUsage | null;
	/** Tries before this one. */
	readonly retries: number;
}

/** What one network read brought: events in order; `done` where the upstream's `[DONE]` came after them. */
export interface EventBatch {
	readonly events: readonly ChatEvent[];
	readonly done: boolean;
}

export interface ChatStream {
	/** Resolves at the first upstream headers that look good; rejects like `opened` where no try gets so far. */
	readonly headers: Promise<void>;
	/** Resolves at the first event; rejects with an ApiError as the failure table says, after all tries. */
	readonly opened: Promise<unknown>;
	/**
	 * Hands out every batch once, in order, those that came before the call too; a promise that `take` returns is
	 * waited for before more is read. Resolves at a proper end, or where `take` cancelled. Throws what `opened`
	 * rejects with; an ApiError where the upstream broke, fell silent or sent an error event; what `take` throws.
	 */
	each(take: (batch: EventBatch) => Promise<unknown> | null): Promise<void>;
	/** The upstream in use, once there is one. */
	readonly upstream: string | null;
	readonly retries: number;
	/** The last usage that the upstream gave so far, in any of the known spellings. */
	readonly usage: TokenUsage | null;
	/** Aborts the upstream at once. Safe to call twice. */
	cancel(): void;
}

export interface ChatUpstreams {
	whole(call: ChatForward): Promise<WholeAnswer>;
	stream(call: ChatForward): ChatStream;
}
