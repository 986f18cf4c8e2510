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
import { NO_SECRETS, type SecretMask } from "../secret-mask.ts";
import type { ChatEvent } from "./event-frame.ts";
import { type EventFrame, FramedEvent, frameOf } from "./event-frame.ts";
import { isFinishReason } from "./finish-reason.ts";
import { SplitSecrets } from "./split-secrets.ts";
import { choiceUsage, usageOf } from "./usage.ts";

/** Frames that are tried on each event: of text, thoughts and tool calls, of a few choices. */
const MAX_FRAMES = 8;
/** Longer events are no pieces of a sentence: no frame is kept of them. */
const MAX_FRAME_LENGTH = 16 * 1024;
/** Events without a known frame, one after another, past which no more frames are made. */
const MAX_MISSES = 32;

/** As many as a request may ask for. */
const MAX_CHOICES = 8;

/** Smaller events are parsed in no time, whatever is in them. */
const SMALL_EVENT_CHARS = 32 * 1024;

/** Ends the event under way, whatever of its last line is there. */
const BLANK_LINE = Buffer.from("\n\n");

type Fields = Readonly<Record<string, unknown>>;

/** What the bytes of one upstream stream say. */
export class EventReader {
	readonly #parser: SseParser;
	readonly #mask: SecretMask;
	/** null where the upstream is sent no secret. */
	readonly #split: SplitSecrets | null;
	readonly #frames: EventFrame[] = [];
	#misses = 0;
	#finishReasonSeen = false;
	#usage: TokenUsage | null = null;
	#fault: unknown = null;
	#bodyEnded = false;
	readonly #mostChoices: number;
	readonly #choices = new Set<unknown>();

	/**
	 * @param mask takes the upstream's secrets out of each event
	 * @param mostChoices how many were asked for
	 */
	constructor(maxEventBytes: number, mask = NO_SECRETS, mostChoices = MAX_CHOICES) {
		this.#mostChoices = mostChoices;
		this.#parser = new SseParser(maxEventBytes);
		this.#mask = mask;
		this.#split = mask.spoken.length === 0 ? null : new SplitSecrets(mask);
	}

	/** The last usage wins, wherever it stood. */
	get usage(): TokenUsage | null {
		return this.#usage;
	}

	/** `[DONE]` came, or the body is over, and nothing broke before it. */
	get done(): boolean {
		return this.#isOver && this.#fault === null;
	}

	get #isOver(): boolean {
		return this.#parser.done || this.#bodyEnded;
	}

	/** An error that came behind good events of the same bytes: for whoever asks for more. null without one. */
	get fault(): unknown {
		return this.#fault;
	}

	/**
	 * The events that these bytes complete. Throws UpstreamFailure for an error event, broken JSON and what is no
	 * event stream, where no good event stood before it.
	 */
	take(bytes: Uint8Array): ChatEvent[] {
		const events: ChatEvent[] = [];
		try {
			this.#parser.push(bytes);
			for (let event = this.#next(); event !== null; event = this.#next()) {
				if (this.#split === null) events.push(event);
				else for (const told of this.#split.take(event)) events.push(told);
			}
			if (this.#isOver && this.#split !== null) for (const told of this.#split.flush()) events.push(told);
		} catch (error) {
			this.#fault = isStreamFault(error) ? brokenAnswer(error.message) : error;
			if (events.length === 0) throw this.#fault;
		}
		return events;
	}

	/**
	 * The body has ended, and with it its last event, which may lack the blank line behind it. Complete without `[DONE]`
	 * too, which some servers leave out: what ends an answer is its finish_reason. Throws UpstreamFailure without one.
	 */
	end(): ChatEvent[] {
		this.#bodyEnded = true;
		const events = this.take(BLANK_LINE);
		if (this.#fault !== null) throw this.#fault;
		if (!this.#parser.done && !this.#finishReasonSeen) throw brokenAnswer("the stream was cut: no finish_reason");
		return events;
	}

	#next(): ChatEvent | null {
		for (const frame of this.#frames) {
			const written = this.#parser.nextBetween(frame.lineHead, frame.lineTail);
			if (written === null) continue;
			const clean = this.#mask.answer(written);
			return this.#hit(new FramedEvent(frame, clean, clean));
		}
		let said = this.#parser.next();
		// Some servers send it between their chunks, to keep the connection.
		while (said === "null") said = this.#parser.next();
		if (said === null) return null;
		const text = this.#mask.answer(said);
		if (text.includes("\n")) return this.#parsed(text);
		for (const frame of this.#frames) {
			const event = frame.match(text);
			if (event !== null) return this.#hit(event);
		}
		return this.#parsed(text);
	}

	#hit(event: FramedEvent): FramedEvent {
		this.#misses = 0;
		return event;
	}

	/** null where the body ended within it. */
	#parsed(text: string): ChatEvent | null {
		let parsed: unknown;
		try {
			if (text.length > SMALL_EVENT_CHARS) atOnce(cutJson(Buffer.from(text), EVENT_BOUNDS, CUT_NOTHING));
			// Our own readers take no deeper JSON: the event would fail there, as if the caller had sent it.
			else if (text.length > 2 * MAX_JSON_DEPTH) endOfValue(Buffer.from(text.trimStart()), 0);
			parsed = JSON.parse(text);
		} catch {
			if (this.#bodyEnded) return null;
			throw brokenAnswer("an event of the stream is no JSON");
		}
		if (isErrorAnswer(parsed)) throw failureOfAnswer(200, parsed, null);
		if (!isRecord(parsed)) throw brokenAnswer("an event of the stream is no JSON object");
		const body: Fields = parsed;
		if (body.usage || body.x_groq || body.eval_count || choiceUsage(body.choices)) this.#usage = usageOf(body) ?? this.#usage;
		this.#countChoices(body.choices);
		if (!this.#finishReasonSeen) this.#finishReasonSeen = hasFinishReason(body.choices);
		if (this.#misses < MAX_MISSES && !text.includes("\n") && text.length <= MAX_FRAME_LENGTH) this.#learn(text, body);
		return { text: onOneLine(text), body, frame: null, written: "", piece: "" };
	}

	/** Servers number them from 0, or from 1, or not at all: so different numbers count. */
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

/** Data of several lines: between tokens of JSON, and nowhere else, a line end is a blank. */
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
