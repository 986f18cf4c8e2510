import type { TokenUsage } from "../../journal/records.ts";
import { isRecord } from "../../schema/is-record.ts";
import {
	atOnce,
	CUT_NOTHING,
	cutJson,
	EVENT_BOUNDS,
	endOfValue,
	MAX_JSON_DEPTH,
	SseEventTooLarge,
	SseNotUtf8,
	SseParser,
} from "../../wire/index.ts";
import { brokenAnswer, failureOfAnswer, isErrorAnswer } from "../failures.ts";
import { isFinishReason } from "../finish-reason.ts";
import { NO_SECRETS, type SecretMask } from "../secret-mask.ts";
import { ArrayLines } from "./array-lines.ts";
import { beginsAsArray } from "./body-beginning.ts";
import { type ChatEvent, type EventFrame, FramedEvent, frameOf } from "./event-frame.ts";
import { failureOfChoices } from "./failed-choice.ts";
import { NativeAnswer } from "./native-answers.ts";
import { SplitSecrets } from "./split-secrets.ts";
import { choiceUsage, usageOf } from "./usage.ts";

/** Maximum number of frames tried on each event: of text, thoughts and tool calls, of a few choices. */
const MAX_FRAMES = 8;
/** Longer events are no pieces of a sentence, so they get no frame. */
const MAX_FRAME_LENGTH = 16 * 1024;
/** After this many successive events without a known frame, no more frames are made. */
const MAX_MISSES = 32;

/** Maximum number of choices of a request. */
const MAX_CHOICES = 8;

/** Smaller events are parsed at once: their content cannot make that slow. */
const SMALL_EVENT_CHARS = 32 * 1024;

/** Ends the current event, even in the middle of a line. */
const BLANK_LINE = Buffer.from("\n\n");

type Fields = Readonly<Record<string, unknown>>;

/** Reads the events of one upstream stream from its bytes. */
export class EventReader {
	readonly #parser: SseParser;
	readonly #mask: SecretMask;
	/** null if no secret is sent to the upstream. */
	readonly #split: SplitSecrets | null;
	readonly #frames: EventFrame[] = [];
	readonly #native = new NativeAnswer();
	/** null if the body is no array; undefined while all bytes were blank. */
	#array: ArrayLines | null | undefined;
	#misses = 0;
	#finishReasonSeen = false;
	#usage: TokenUsage | null = null;
	#fault: unknown = null;
	#bodyEnded = false;
	readonly #mostChoices: number;
	readonly #choices = new Set<unknown>();

	/**
	 * @param mask removes the upstream's secrets from each event
	 * @param mostChoices the requested number of choices
	 */
	constructor(maxEventBytes: number, mask = NO_SECRETS, mostChoices = MAX_CHOICES) {
		this.#mostChoices = mostChoices;
		this.#parser = new SseParser(maxEventBytes);
		this.#mask = mask;
		this.#split = mask.ownSecrets.length === 0 ? null : new SplitSecrets(mask);
	}

	/** The last reported usage, wherever it was. */
	get usage(): TokenUsage | null {
		return this.#usage;
	}

	/** True once `[DONE]` was read or the body has ended, without a fault before it. */
	get done(): boolean {
		return this.#isOver && this.#fault === null;
	}

	get #isOver(): boolean {
		return this.#parser.done || this.#bodyEnded;
	}

	/** An error after good events of the same bytes, thrown at the next read; null without one. */
	get fault(): unknown {
		return this.#fault;
	}

	/**
	 * Returns the events that these bytes complete.
	 * @throws UpstreamFailure for an error event, broken JSON and other bodies, where no good event precedes it
	 */
	take(bytes: Uint8Array): ChatEvent[] {
		const events: ChatEvent[] = [];
		try {
			this.#parser.push(this.#inLines(bytes));
			for (let event = this.#next(); event !== null; event = this.#next()) {
				if (this.#split === null) events.push(event);
				else for (const masked of this.#split.take(event)) events.push(masked);
			}
			if (this.#parser.done && !this.#finishReasonSeen) this.#endNative(events);
			if (this.#isOver && this.#split !== null) for (const masked of this.#split.flush()) events.push(masked);
		} catch (error) {
			this.#fault = isStreamFault(error) ? brokenAnswer(error.message) : error;
			if (events.length === 0) throw this.#fault;
		}
		return events;
	}

	/**
	 * Ends the body and returns its last event, which may lack its blank line. Some servers omit `[DONE]`, so a
	 * finish_reason also completes the answer.
	 * @throws UpstreamFailure if the answer is incomplete
	 */
	end(): ChatEvent[] {
		this.#bodyEnded = true;
		const events = this.take(BLANK_LINE);
		if (this.#fault !== null) throw this.#fault;
		if (!this.#parser.done && !this.#finishReasonSeen) throw brokenAnswer("the stream was cut: no finish_reason");
		return events;
	}

	/** Returns the bytes; of an array with one element a line. */
	#inLines(bytes: Uint8Array): Uint8Array {
		if (this.#array === undefined) {
			const isArray = beginsAsArray(bytes);
			if (isArray !== null) this.#array = isArray ? new ArrayLines() : null;
		}
		return this.#array ? this.#array.take(bytes) : bytes;
	}

	#next(): ChatEvent | null {
		for (;;) {
			const event = this.#nextOrNothing();
			if (event !== undefined) return event;
		}
	}

	/** Returns the next event; undefined for one without anything for the caller; null if no event is complete. */
	#nextOrNothing(): ChatEvent | null | undefined {
		for (const frame of this.#frames) {
			const written = this.#parser.nextBetween(frame.lineHead, frame.lineTail);
			if (written === null) continue;
			const clean = this.#mask.answer(written);
			return this.#hit(new FramedEvent(frame, clean, clean));
		}
		let data = this.#parser.next();
		// Some servers send `null` between chunks to keep the connection open.
		while (data === "null") data = this.#parser.next();
		if (data === null) return null;
		const text = this.#mask.answer(data);
		if (text.includes("\n")) return this.#parse(text);
		for (const frame of this.#frames) {
			const event = frame.match(text);
			if (event !== null) return this.#hit(event);
		}
		return this.#parse(text);
	}

	#hit(event: FramedEvent): FramedEvent {
		this.#misses = 0;
		return event;
	}

	/** Parses an event; returns null if the body ended within it, undefined if it has nothing for the caller. */
	#parse(text: string): ChatEvent | null | undefined {
		let parsed: unknown;
		try {
			if (text.length > SMALL_EVENT_CHARS) atOnce(cutJson(Buffer.from(text), EVENT_BOUNDS, CUT_NOTHING));
			// Our own readers refuse deeper JSON; without this check they would blame the caller.
			else if (text.length > 2 * MAX_JSON_DEPTH) endOfValue(Buffer.from(text.trimStart()), 0);
			parsed = JSON.parse(text);
		} catch {
			if (this.#bodyEnded) return null;
			throw brokenAnswer("an event of the stream is not JSON");
		}
		if (isErrorAnswer(parsed)) throw failureOfAnswer(200, parsed, null);
		if (!isRecord(parsed)) throw brokenAnswer("an event of the stream is not a JSON object");
		const body = this.#native.chunk(parsed);
		if (body === null) return undefined;
		if (this.#array && !Array.isArray(body.choices)) throw brokenAnswer("an array of something else than chunks");
		const failure = failureOfChoices(body.choices);
		if (failure !== null) throw failure;
		if (body.usage || body.x_groq || body.eval_count || choiceUsage(body.choices)) this.#usage = usageOf(body) ?? this.#usage;
		this.#countChoices(body.choices);
		if (!this.#finishReasonSeen) this.#finishReasonSeen = hasFinishReason(body.choices);
		if (body !== parsed) return unframed(JSON.stringify(body), body);
		if (this.#misses < MAX_MISSES && !text.includes("\n") && text.length <= MAX_FRAME_LENGTH) this.#learn(text, body);
		return unframed(onOneLine(text), body);
	}

	/** Adds the end of an answer in a form whose streams have no finish reason. */
	#endNative(events: ChatEvent[]): void {
		const body = this.#native.end();
		if (body === null) return;
		this.#finishReasonSeen = true;
		events.push(unframed(JSON.stringify(body), body));
	}

	/** Counts different choices. Servers number them from 0, or from 1, or not at all. */
	#countChoices(choices: unknown): void {
		if (!Array.isArray(choices)) return;
		for (const choice of choices) this.#choices.add(isRecord(choice) ? (choice.index ?? 0) : 0);
		if (this.#choices.size > this.#mostChoices) throw brokenAnswer(`more than ${this.#mostChoices} choices`);
	}

	#learn(text: string, body: Fields): void {
		this.#misses++;
		const frame = frameOf(text, body);
		if (frame === null) return;
		if (this.#frames.length === MAX_FRAMES) this.#frames.pop();
		this.#frames.unshift(frame);
	}
}

/** Returns an event without a frame. */
function unframed(text: string, body: Fields): ChatEvent {
	return { text, body, frame: null, written: "", piece: "" };
}

/** Joins data of several lines: a line end is valid JSON only between tokens, where it equals a blank. */
function onOneLine(json: string): string {
	return json.includes("\n") ? json.replaceAll("\n", " ") : json;
}

function isStreamFault(error: unknown): error is Error {
	return error instanceof SseEventTooLarge || error instanceof SseNotUtf8;
}

function hasFinishReason(choices: unknown): boolean {
	if (!Array.isArray(choices)) return false;
	return choices.some((choice) => isRecord(choice) && isFinishReason(choice.finish_reason));
}
