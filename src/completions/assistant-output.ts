import { isWholeObject } from "../upstreams/index.ts";

/** What a model says, as a row of segments: thoughts, text, a refusal, calls of functions. None begins before the last has ended. */
export type SegmentKind = "thought" | "text" | "refusal" | "call";

/** A source that a text rests on, in OpenAI's form. */
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
	/** Its place among the segments; known once it was opened. */
	index = -1;
	/** False where the model was cut off in it. */
	isWhole = true;
	/** Of a thought: the provider's own pieces and signature, which it wants back unchanged. */
	details: readonly Readonly<Record<string, unknown>>[] = [];
	signature: string | null = null;
	/** Of a text. */
	readonly citations: UrlCitation[] = [];
	readonly logprobs: unknown[] = [];
	/** Nothing is added any more. */
	isClosed = false;
	#pieces: string[] = [];
	/** null: not known. */
	#isCallable: boolean | null = false;

	constructor(kind: SegmentKind, call: { readonly id: string; readonly name: string } = { id: "", name: "" }) {
		this.kind = kind;
		this.callId = call.id;
		this.name = call.name;
	}

	add(piece: string): void {
		this.#pieces.push(piece);
		// A parser need not look at a long text for each piece of it: only one that closes an object makes it whole.
		if (piece.trim() !== "") this.#isCallable = piece.includes("}") ? null : false;
	}

	get text(): string {
		if (this.#pieces.length > 1) this.#pieces = [this.#pieces.join("")];
		return this.#pieces[0] ?? "";
	}

	/** Of a call: its arguments are a whole JSON object. */
	get isCallable(): boolean {
		this.#isCallable ??= isWholeObject(this.text);
		return this.#isCallable;
	}
}

/** How a form tells the segments, as text of its stream. */
export interface AssistantOutputListener {
	open(segment: Segment): string;
	/** A piece that was added to the open segment. */
	piece(segment: Segment, text: string, logprobs: readonly unknown[]): string;
	close(segment: Segment): string;
}

/** Tells nothing: for whole answers, whose segments are told at once. */
export const NO_LISTENER: AssistantOutputListener = { open: () => "", piece: () => "", close: () => "" };
