import { ApiError } from "../errors/index.ts";
import { isRecord } from "../schema/is-record.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { EventFrame, WholeAnswer } from "../upstreams/chat/port.ts";
import { isFinishReason } from "../upstreams/finish-reason.ts";
import { argumentsText, CallIdentity, finishReasonOf } from "../upstreams/index.ts";
import { type AssistantOutputListener, NO_LISTENER, Segment, type SegmentKind, type UrlCitation } from "./assistant-output.ts";
import { outputTexts } from "./output-texts.ts";
import { membersOf, wholeBody } from "./whole-body.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Maximum number of characters of an answer held in memory; an endless one must not fill it. */
const MAX_LENGTH = 16 * 1_048_576;

/** Maximum number of calls in one answer: no model makes more. */
const MAX_CALLS = 2_048;
/** Maximum number of segments (thoughts, texts, refusals, calls); a real answer has some for each call. */
const MAX_SEGMENTS = 8_192;
/** Maximum number of an answer's sources, and of the pieces that a provider needs back with a thought. */
const MAX_CITATIONS = 10_000;
const MAX_DETAILS = 10_000;

/** The destination of a frame's text: a kind of segment, or the call that its event names. */
type Place = Exclude<SegmentKind, "call"> | { readonly index: number };

/** A call whose fragments are still arriving. */
interface CallUnderWay {
	readonly segment: Segment;
	readonly identity: CallIdentity;
}

/**
 * Reads the events of a chat stream, or a whole chat message, as segments one after the other. Interleaved fragments of
 * calls are put in order: a call is reported when the one before it is complete.
 */
export class AssistantOutputReader {
	/** All segments opened so far. */
	readonly segments: Segment[] = [];
	/** OpenAI's name for why the answer ended. */
	finishReason: string | null = null;
	/** The stop sequence that ended it, if the upstream reports it. */
	stopReason: string | null = null;
	readonly #listener: AssistantOutputListener;
	readonly #callIds: (number: number) => string;
	readonly #places = new WeakMap<EventFrame, Place>();
	#open: Segment | null = null;
	readonly #calls = new Map<number, CallUnderWay>();
	#lastCall: CallUnderWay | null = null;
	/** Calls that began while another was open, in order. */
	#waiting: CallUnderWay[] = [];
	#callCount = 0;
	/** Number of characters in all segments. */
	#length = 0;
	/** The provider's pieces of a thought not reported yet. Those with an index are also found by type and index. */
	#details: Record<string, unknown>[] = [];
	readonly #detailsByPlace = new Map<string, Record<string, unknown>>();
	#detailCount = 0;
	#citationCount = 0;
	#signature: string | null = null;

	/** @param callIds names calls whose upstream gave them no id. */
	constructor(listener: AssistantOutputListener, callIds: (number: number) => string) {
		this.#listener = listener;
		this.#callIds = callIds;
	}

	/**
	 * Reads the segments of a whole answer's first choice.
	 * @throws ApiError INFERENCE_FAILED if it has none, or cannot be read
	 */
	static async answer(answer: WholeAnswer, callIds: (number: number) => string): Promise<AssistantOutputReader> {
		await membersOf(answer);
		const body = await wholeBody(answer);
		if (!Array.isArray(body.choices)) throw new ApiError("INFERENCE_FAILED", { cause: new Error("an answer without choices") });
		return AssistantOutputReader.whole(body, callIds);
	}

	/** Reads the segments of a whole answer's parsed body. */
	static whole(body: Fields, callIds: (number: number) => string): AssistantOutputReader {
		const reader = new AssistantOutputReader(NO_LISTENER, callIds);
		const choice = firstChoice(body);
		if (choice !== null) reader.#choice(choice, textOfSegment(choice, choice.message), true);
		reader.end();
		return reader;
	}

	/** Adds an event, and returns what the listener makes of it. */
	take(event: ChatEvent): string {
		const { frame } = event;
		if (frame === null) {
			const choice = firstChoice(event.body);
			return choice === null ? "" : this.#choice(choice, textOfSegment(choice, choice.delta), false);
		}
		const place = this.#places.get(frame) ?? this.#learn(frame);
		if (typeof place === "string") return this.#piece(place, event.piece);
		const call = this.#calls.get(place.index) ?? this.#lastCall;
		return call === null ? "" : this.#fragment(call, event.piece);
	}

	/** Ends the open segment and the waiting calls. */
	end(): string {
		let output = "";
		const isWhole = this.finishReason !== "length";
		if (this.#open !== null && !isWhole) this.#open.isWhole = false;
		for (const { segment } of this.#waiting) if (!isWhole) segment.isWhole = segment.isCallable;
		output += this.#thoughtOfDetails();
		output += this.#flushCalls();
		return output + this.#close();
	}

	/** Stops reading; the open segment stays incomplete. */
	breakOff(): void {
		if (this.#open !== null) this.#open.isWhole = false;
	}

	#learn(frame: EventFrame): Place {
		const place = placeOf(frame.like);
		this.#places.set(frame, place);
		return place;
	}

	#choice(choice: Fields, message: Fields, isWhole: boolean): string {
		let output = "";
		this.#keepDetails(message);
		const thought = message.reasoning_content ?? message.reasoning ?? outputTexts(message).reasoning_content;
		if (typeof thought === "string") output += this.#piece("thought", thought);
		output += this.#text(message, choice);
		if (typeof message.refusal === "string") output += this.#piece("refusal", message.refusal);
		for (const call of callsIn(message)) if (isRecord(call)) output += this.#calling(call, isWhole);
		if (typeof choice.stop_reason === "string") this.stopReason = choice.stop_reason;
		if (!isFinishReason(choice.finish_reason)) return output;
		this.finishReason = finishReasonOf(choice.finish_reason);
		return output + this.end();
	}

	#text(message: Fields, choice: Fields): string {
		const content = outputTexts(message).content ?? message.content;
		const logprobs = isRecord(choice.logprobs) ? logprobsOf(choice.logprobs.content) : [];
		let output = "";
		if (typeof content === "string") output += this.#piece("text", content, logprobs);
		const citations = Array.isArray(message.annotations) ? (message.annotations as unknown[]).flatMap(citationOf) : [];
		if (this.#open?.kind !== "text") return output;
		this.#citationCount += citations.length;
		if (this.#citationCount > MAX_CITATIONS) throw endless(`more than ${MAX_CITATIONS} sources`);
		for (const citation of citations) this.#open.citations.push(citation);
		return output;
	}

	#piece(kind: Exclude<SegmentKind, "call">, text: string, logprobs: readonly unknown[] = []): string {
		if (text === "") return "";
		let output = "";
		if (this.#open?.kind !== kind) {
			output = this.#flushCalls();
			output += this.#begin(new Segment(kind));
		}
		return output + this.#report(text, logprobs);
	}

	/** Adds a fragment of a call, or a whole call. */
	#calling(call: Fields, isWhole: boolean): string {
		const definition = isRecord(call.function) ? call.function : {};
		const index = typeof call.index === "number" ? call.index : null;
		const current = isWhole ? null : index === null ? this.#lastCall : (this.#calls.get(index) ?? null);
		const isNew = current === null || current.identity.isOther(call.id, definition.name, () => current.segment.isCallable);
		const underWay = isNew ? this.#newCall(call.id, definition.name, index) : current;
		let output = "";
		if (!isNew) underWay.identity.learn(call.id, definition.name);
		else if (this.#open?.kind !== "call" || this.#open.isCallable || isWhole) output = this.#reportNext(underWay);
		else this.#waiting.push(underWay);
		return output + this.#fragment(underWay, argumentsText(definition.arguments));
	}

	#newCall(givenId: unknown, reportedName: unknown, index: number | null): CallUnderWay {
		const identity = new CallIdentity();
		identity.learn(givenId, reportedName);
		const { name } = identity;
		const id = identity.id ?? this.#callIds(this.#callCount);
		if (this.#callCount === MAX_CALLS) throw endless(`more than ${MAX_CALLS} calls`);
		const call = { segment: new Segment("call", { id, name }), identity };
		this.#calls.set(index ?? this.#callCount, call);
		this.#callCount++;
		this.#lastCall = call;
		return call;
	}

	#fragment(call: CallUnderWay, text: string): string {
		if (text === "" || call.segment.isClosed) return "";
		if (this.#open === call.segment) return this.#report(text, []);
		this.#add(call.segment, text);
		return this.#open?.kind === "call" && this.#open.isCallable ? this.#reportWaitingFirst() : "";
	}

	/** Opens the call, after those that waited before it. */
	#reportNext(call: CallUnderWay): string {
		return this.#flushCalls() + this.#begin(call.segment);
	}

	/** Opens a last thought without text for provider pieces that came without a thought. */
	#thoughtOfDetails(): string {
		const isPending = this.#details.length > 0 || this.#signature !== null;
		if (!isPending || this.#open?.kind === "thought") return "";
		const output = this.#flushCalls();
		const segment = new Segment("thought");
		this.#seal(segment);
		return output + this.#begin(segment);
	}

	/** Attaches to the thought the pieces that its provider needs back with it. */
	#seal(segment: Segment): void {
		segment.details = [...segment.details, ...this.#details];
		segment.signature = this.#signature ?? segment.signature;
		this.#details = [];
		this.#detailsByPlace.clear();
		this.#signature = null;
	}

	#reportWaitingFirst(): string {
		const call = this.#waiting.shift();
		if (call === undefined) return "";
		const { text } = call.segment;
		return this.#begin(call.segment) + (text === "" ? "" : this.#listener.piece(call.segment, text, []));
	}

	#flushCalls(): string {
		let output = "";
		for (const call of this.#waiting) output += this.#reportWaiting(call);
		this.#waiting = [];
		return output;
	}

	#reportWaiting({ segment }: CallUnderWay): string {
		const opening = this.#begin(segment);
		const { text } = segment;
		return opening + (text === "" ? "" : this.#listener.piece(segment, text, [])) + this.#close();
	}

	#begin(segment: Segment): string {
		const output = this.#close();
		if (this.segments.length === MAX_SEGMENTS) throw endless(`more than ${MAX_SEGMENTS} thoughts, texts and calls`);
		segment.index = this.segments.length;
		this.segments.push(segment);
		this.#open = segment;
		return output + this.#listener.open(segment);
	}

	#report(text: string, logprobs: readonly unknown[]): string {
		const segment = this.#open;
		if (segment === null) return "";
		this.#add(segment, text);
		for (const logprob of logprobs) segment.logprobs.push(logprob);
		return this.#listener.piece(segment, text, logprobs);
	}

	#add(segment: Segment, text: string): void {
		this.#count(text.length);
		segment.add(text);
	}

	#count(characters: number): void {
		this.#length += characters;
		if (this.#length > MAX_LENGTH) throw endless(`more than ${MAX_LENGTH} characters`);
	}

	#close(): string {
		const segment = this.#open;
		if (segment === null) return "";
		if (segment.kind === "thought") this.#seal(segment);
		segment.isClosed = true;
		this.#open = null;
		return this.#listener.close(segment);
	}

	/**
	 * Collects provider pieces. Those with the same index are one piece: their texts are joined, their other members are
	 * taken once.
	 */
	#keepDetails(message: Fields): void {
		if (typeof message.thought_signature === "string") this.#signature = message.thought_signature;
		if (!Array.isArray(message.reasoning_details)) return;
		for (const detail of message.reasoning_details as unknown[]) if (isRecord(detail)) this.#keepDetail(detail);
	}

	#keepDetail(detail: Fields): void {
		for (const value of Object.values(detail)) if (typeof value === "string") this.#count(value.length);
		const place = detail.index === undefined ? null : JSON.stringify([detail.type, detail.index]);
		const existing = place === null ? undefined : this.#detailsByPlace.get(place);
		if (existing !== undefined) {
			for (const [key, value] of Object.entries(detail)) existing[key] = joinValues(key, existing[key], value);
			return;
		}
		if (++this.#detailCount > MAX_DETAILS) throw endless(`more than ${MAX_DETAILS} pieces that its provider wants back`);
		const copy = { ...detail };
		this.#details.push(copy);
		if (place !== null) this.#detailsByPlace.set(place, copy);
	}
}

/** Returns the fault of an answer that exceeds a limit. */
function endless(excess: string): ApiError {
	return new ApiError("INFERENCE_FAILED", { cause: new Error(`an answer with ${excess}`) });
}

function joinValues(key: string, before: unknown, value: unknown): unknown {
	if (value === null || value === undefined) return before;
	const grows = key === "text" || key === "summary" || key === "data";
	return grows && typeof before === "string" && typeof value === "string" ? before + value : value;
}

/** Returns tokens with their log probabilities, without other members that a server may add. */
function logprobsOf(content: unknown): object[] {
	if (!Array.isArray(content)) return [];
	const one = (entry: unknown) => {
		if (!isRecord(entry) || typeof entry.token !== "string") return [];
		const { token, logprob, bytes } = entry;
		const numbers = Array.isArray(bytes) ? (bytes as unknown[]).filter((byte) => typeof byte === "number") : [];
		return [{ token, logprob: typeof logprob === "number" ? logprob : 0, bytes: numbers }];
	};
	return (content as unknown[]).flatMap((entry) => {
		const others = isRecord(entry) && Array.isArray(entry.top_logprobs) ? (entry.top_logprobs as unknown[]) : [];
		return one(entry).map((output) => ({ ...output, top_logprobs: others.flatMap(one) }));
	});
}

function firstChoice(body: Fields): Fields | null {
	const { choices } = body;
	if (!Array.isArray(choices)) return null;
	const first: unknown = choices.find((choice: unknown) => isRecord(choice) && (choice.index ?? 0) === 0);
	return isRecord(first) ? first : null;
}

/**
 * Returns the content of a choice. Some servers have it under `message` in streams, or in `text` as the older
 * completions do.
 */
function textOfSegment(choice: Fields, message: unknown): Fields {
	if (isRecord(message)) return message;
	if (isRecord(choice.message)) return choice.message;
	return typeof choice.text === "string" ? { content: choice.text } : {};
}

/** Returns the calls of a message; the older form is one call without an id. */
function callsIn({ tool_calls: calls, function_call: call }: Fields): readonly unknown[] {
	if (Array.isArray(calls)) return calls;
	return isRecord(call) ? [{ index: 0, function: call }] : [];
}

function placeOf(like: Fields): Place {
	const delta = firstChoice(like)?.delta;
	if (!isRecord(delta)) return "text";
	if (delta.reasoning_content || delta.reasoning) return "thought";
	if (delta.refusal) return "refusal";
	const [call] = Array.isArray(delta.tool_calls) ? (delta.tool_calls as unknown[]) : [];
	if (!isRecord(call) || delta.content) return "text";
	return { index: typeof call.index === "number" ? call.index : -1 };
}

/** Returns the citation of an annotation, which OpenAI's chat nests under its type. */
function citationOf(annotation: unknown): UrlCitation[] {
	if (!isRecord(annotation)) return [];
	const citation = isRecord(annotation.url_citation) ? annotation.url_citation : annotation;
	if (annotation.type !== "url_citation" || typeof citation.url !== "string") return [];
	const place = (value: unknown): number => (typeof value === "number" ? value : 0);
	const title = typeof citation.title === "string" ? citation.title : "";
	return [
		{
			type: "url_citation",
			url: citation.url,
			title,
			start_index: place(citation.start_index),
			end_index: place(citation.end_index),
		},
	];
}
