import { isWholeObject } from "../upstreams/index.ts";

/**
 * A model's answer is a sequence of segments: thoughts, text, a refusal, calls of functions. A segment begins after the
 * last has ended.
 */
export type SegmentKind = "thought" | "text" | "refusal" | "call";

/** A source that a text cites, in OpenAI's form. */
export interface UrlCitation {
	readonly type: "url_citation";
	readonly url: string;
	readonly title: string;
	readonly start_index: number;
	readonly end_index: number;
}

export class Segment {
	readonly kind: SegmentKind;
	/** Of a call. */
	readonly callId: string;
	name: string;
	/** Position among the segments, known once the segment is opened. */
	index = -1;
	/** False if the model was cut off within the segment. */
	isWhole = true;
	/** In a thought: the provider's own pieces and signature, which it needs back unchanged. */
	details: readonly Readonly<Record<string, unknown>>[] = [];
	signature: string | null = null;
	/** Citations of a text. */
	readonly citations: UrlCitation[] = [];
	readonly logprobs: unknown[] = [];
	/** True when nothing more is added. */
	isClosed = false;
	#pieces: string[] = [];
	/** null: not checked yet. */
	#isCallable: boolean | null = false;

	constructor(kind: SegmentKind, call: { readonly id: string; readonly name: string } = { id: "", name: "" }) {
		this.kind = kind;
		this.callId = call.id;
		this.name = call.name;
	}

	add(piece: string): void {
		this.#pieces.push(piece);
		// Only a piece that closes an object can complete the JSON, so other pieces need no parsing.
		if (piece.trim() !== "") this.#isCallable = piece.includes("}") ? null : false;
	}

	get text(): string {
		if (this.#pieces.length > 1) this.#pieces = [this.#pieces.join("")];
		return this.#pieces[0] ?? "";
	}

	/** True for a call whose arguments are a complete JSON object. */
	get isCallable(): boolean {
		this.#isCallable ??= isWholeObject(this.text);
		return this.#isCallable;
	}
}

/** How a route presents the segments as text of its stream. */
export interface AssistantOutputListener {
	open(segment: Segment): string;
	/** Called with a piece that was added to the open segment. */
	piece(segment: Segment, text: string, logprobs: readonly unknown[]): string;
	close(segment: Segment): string;
}

/** Writes nothing: for whole answers, whose segments are presented at once. */
export const NO_LISTENER: AssistantOutputListener = { open: () => "", piece: () => "", close: () => "" };
