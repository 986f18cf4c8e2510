import { ApiError } from "../errors/index.ts";
import { isRecord } from "../schema/is-record.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import { isFinishReason } from "../upstreams/chat/finish-reason.ts";
import type { EventFrame, WholeAnswer } from "../upstreams/chat/port.ts";
import { argumentsText, CallIdentity, finishReasonOf } from "../upstreams/index.ts";
import { type AssistantOutputListener, NO_LISTENER, Segment, type SegmentKind, type UrlCitation } from "./assistant-output.ts";
import { outputTexts } from "./output-texts.ts";
import { membersOf, wholeBody } from "./whole-body.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Characters of an answer that is kept whole; an endless one must not fill the memory. */
const MAX_LENGTH = 16 * 1_048_576;

/** Calls of one answer: no model makes more. */
const MAX_CALLS = 2_048;
/** Thoughts, texts, refusals and calls that follow each other: an honest answer has some for each call. */
const MAX_SEGMENTS = 8_192;
/** Sources of an answer, and pieces that a provider wants back with a thought. */
const MAX_CITATIONS = 10_000;
const MAX_DETAILS = 10_000;

/** Where the piece of a frame belongs: a kind of segment, or the call that its event names. */
type Place = Exclude<SegmentKind, "call"> | { readonly index: number };

/** A call whose fragments come. */
interface CallUnderWay {
	readonly segment: Segment;
	readonly identity: CallIdentity;
}

/**
 * Reads the events of a chat stream, or a whole chat message, as segments one after the other. Fragments of calls
 * that come mixed are put in order: a call is told when the one before it is whole.
 */
export class AssistantOutputReader {
	/** All that were opened. */
	readonly segments: Segment[] = [];
	/** Why it ended, in OpenAI's words. */
	finishReason: string | null = null;
	/** Which stop sequence ended it, where the upstream says. */
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
	/** Characters of all segments. */
	#length = 0;
	/** The provider's pieces of a thought that is not told yet; those with an index also by type and index. */
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

	/** The segments of a whole answer's first choice. Throws INFERENCE_FAILED where it has none, or cannot be read. */
	static async answer(answer: WholeAnswer, callIds: (number: number) => string): Promise<AssistantOutputReader> {
		await membersOf(answer);
		const body = await wholeBody(answer);
		if (!Array.isArray(body.choices)) throw new ApiError("INFERENCE_FAILED", { cause: new Error("an answer without choices") });
		return AssistantOutputReader.whole(body, callIds);
	}

	/** The same of its parsed body. */
	static whole(body: Fields, callIds: (number: number) => string): AssistantOutputReader {
		const reader = new AssistantOutputReader(NO_LISTENER, callIds);
		const choice = firstChoice(body);
		if (choice !== null) reader.#choice(choice, textOfSegment(choice, choice.message), true);
		reader.end();
		return reader;
	}

	/** What an event brings, told. */
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

	/** Ends what is open. */
	end(): string {
		let told = "";
		const isWhole = this.finishReason !== "length";
		if (this.#open !== null && !isWhole) this.#open.isWhole = false;
		for (const { segment } of this.#waiting) if (!isWhole) segment.isWhole = segment.isCallable;
		told += this.#thoughtOfDetails();
		told += this.#flushCalls();
		return told + this.#close();
	}

	/** Nothing more comes, and what is open stays without its end. */
	breakOff(): void {
		if (this.#open !== null) this.#open.isWhole = false;
	}

	#learn(frame: EventFrame): Place {
		const place = placeOf(frame.like);
		this.#places.set(frame, place);
		return place;
	}

	#choice(choice: Fields, said: Fields, isWhole: boolean): string {
		let told = "";
		this.#keepDetails(said);
		const thought = said.reasoning_content ?? said.reasoning ?? outputTexts(said).reasoning_content;
		if (typeof thought === "string") told += this.#piece("thought", thought);
		told += this.#text(said, choice);
		if (typeof said.refusal === "string") told += this.#piece("refusal", said.refusal);
		for (const call of callsIn(said)) if (isRecord(call)) told += this.#calling(call, isWhole);
		if (typeof choice.stop_reason === "string") this.stopReason = choice.stop_reason;
		if (!isFinishReason(choice.finish_reason)) return told;
		this.finishReason = finishReasonOf(choice.finish_reason);
		return told + this.end();
	}

	#text(said: Fields, choice: Fields): string {
		const content = outputTexts(said).content ?? said.content;
		const logprobs = isRecord(choice.logprobs) ? logprobsOf(choice.logprobs.content) : [];
		let told = "";
		if (typeof content === "string") told += this.#piece("text", content, logprobs);
		const citations = Array.isArray(said.annotations) ? (said.annotations as unknown[]).flatMap(citationOf) : [];
		if (this.#open?.kind !== "text") return told;
		this.#citationCount += citations.length;
		if (this.#citationCount > MAX_CITATIONS) throw endless(`more than ${MAX_CITATIONS} sources`);
		for (const citation of citations) this.#open.citations.push(citation);
		return told;
	}

	#piece(kind: Exclude<SegmentKind, "call">, text: string, logprobs: readonly unknown[] = []): string {
		if (text === "") return "";
		let told = "";
		if (this.#open?.kind !== kind) {
			told = this.#flushCalls();
			told += this.#begin(new Segment(kind));
		}
		return told + this.#told(text, logprobs);
	}

	/** A fragment of a call, or a whole one. */
	#calling(call: Fields, isWhole: boolean): string {
		const called = isRecord(call.function) ? call.function : {};
		const index = typeof call.index === "number" ? call.index : null;
		const known = isWhole ? null : index === null ? this.#lastCall : (this.#calls.get(index) ?? null);
		const isNew = known === null || known.identity.isOther(call.id, called.name, () => known.segment.isCallable);
		const underWay = isNew ? this.#newCall(call.id, called.name, index) : known;
		let told = "";
		if (!isNew) underWay.identity.learn(call.id, called.name);
		else if (this.#open?.kind !== "call" || this.#open.isCallable || isWhole) told = this.#reportNext(underWay);
		else this.#waiting.push(underWay);
		return told + this.#fragment(underWay, argumentsText(called.arguments));
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
		if (this.#open === call.segment) return this.#told(text, []);
		this.#add(call.segment, text);
		return this.#open?.kind === "call" && this.#open.isCallable ? this.#reportWaitingFirst() : "";
	}

	/** The call becomes the open one; those that waited come first. */
	#reportNext(call: CallUnderWay): string {
		return this.#flushCalls() + this.#begin(call.segment);
	}

	/** What a provider wants back and no thought was there for: a last one without text. */
	#thoughtOfDetails(): string {
		const isPending = this.#details.length > 0 || this.#signature !== null;
		if (!isPending || this.#open?.kind === "thought") return "";
		const told = this.#flushCalls();
		const segment = new Segment("thought");
		this.#seal(segment);
		return told + this.#begin(segment);
	}

	/** The thought takes what its provider wants back with it. */
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
		let told = "";
		for (const call of this.#waiting) told += this.#reportWaiting(call);
		this.#waiting = [];
		return told;
	}

	#reportWaiting({ segment }: CallUnderWay): string {
		const begun = this.#begin(segment);
		const { text } = segment;
		return begun + (text === "" ? "" : this.#listener.piece(segment, text, [])) + this.#close();
	}

	#begin(segment: Segment): string {
		const told = this.#close();
		if (this.segments.length === MAX_SEGMENTS) throw endless(`more than ${MAX_SEGMENTS} thoughts, texts and calls`);
		segment.index = this.segments.length;
		this.segments.push(segment);
		this.#open = segment;
		return told + this.#listener.open(segment);
	}

	#told(text: string, logprobs: readonly unknown[]): string {
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

	/** Pieces with the same index are one: their texts join, their other members come once. */
	#keepDetails(said: Fields): void {
		if (typeof said.thought_signature === "string") this.#signature = said.thought_signature;
		if (!Array.isArray(said.reasoning_details)) return;
		for (const detail of said.reasoning_details as unknown[]) if (isRecord(detail)) this.#keepDetail(detail);
	}

	#keepDetail(detail: Fields): void {
		for (const value of Object.values(detail)) if (typeof value === "string") this.#count(value.length);
		const place = detail.index === undefined ? null : JSON.stringify([detail.type, detail.index]);
		const same = place === null ? undefined : this.#detailsByPlace.get(place);
		if (same !== undefined) {
			for (const [key, value] of Object.entries(detail)) same[key] = joined(key, same[key], value);
			return;
		}
		if (++this.#detailCount > MAX_DETAILS) throw endless(`more than ${MAX_DETAILS} pieces that its provider wants back`);
		const kept = { ...detail };
		this.#details.push(kept);
		if (place !== null) this.#detailsByPlace.set(place, kept);
	}
}

/** The fault of an answer that is made of more than an answer is. */
function endless(what: string): ApiError {
	return new ApiError("INFERENCE_FAILED", { cause: new Error(`an answer with ${what}`) });
}

function joined(key: string, before: unknown, value: unknown): unknown {
	if (value === null || value === undefined) return before;
	const grows = key === "text" || key === "summary" || key === "data";
	return grows && typeof before === "string" && typeof value === "string" ? before + value : value;
}

/** Tokens with what is known of them, and nothing else that a server may put there. */
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
		return one(entry).map((told) => ({ ...told, top_logprobs: others.flatMap(one) }));
	});
}

function firstChoice(body: Fields): Fields | null {
	const { choices } = body;
	if (!Array.isArray(choices)) return null;
	const first: unknown = choices.find((choice: unknown) => isRecord(choice) && (choice.index ?? 0) === 0);
	return isRecord(first) ? first : null;
}

/** What a choice says; some servers say it under `message` in streams, or in `text` as the older completions do. */
function textOfSegment(choice: Fields, said: unknown): Fields {
	if (isRecord(said)) return said;
	if (isRecord(choice.message)) return choice.message;
	return typeof choice.text === "string" ? { content: choice.text } : {};
}

/** The older form is one call without an id. */
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

/** OpenAI's chat nests a citation under its type. */
function citationOf(annotation: unknown): UrlCitation[] {
	if (!isRecord(annotation)) return [];
	const told = isRecord(annotation.url_citation) ? annotation.url_citation : annotation;
	if (annotation.type !== "url_citation" || typeof told.url !== "string") return [];
	const place = (value: unknown): number => (typeof value === "number" ? value : 0);
	const title = typeof told.title === "string" ? told.title : "";
	return [{ type: "url_citation", url: told.url, title, start_index: place(told.start_index), end_index: place(told.end_index) }];
}
