import type { TokenUsage } from "../journal/records.ts";
import { SseParser } from "../wire/index.ts";
import type { Clock } from "./clock.ts";
import { letGo } from "./connect.ts";
import { type EventFrame, frameOf } from "./event-frame.ts";
import { broken, failureOfAnswer, isErrorBody } from "./failures.ts";
import type { ChatEvent, EventBatch } from "./port.ts";
import { usageOf } from "./usage.ts";

/** How long the end of a body may take after `[DONE]`, so that its connection can be used again. */
const DRAIN_MS = 1_000;

/** Frames that are tried on each event: of text, thoughts and tool calls, of a few choices. */
const MAX_FRAMES = 8;
/** Longer events are no pieces of a sentence: no frame is kept of them. */
const MAX_FRAME_LENGTH = 16 * 1024;
/** Events without a known frame, one after another, past which no more frames are made. */
const MAX_MISSES = 32;

/** The part of a reader that is used here. */
interface Reader {
	read(): Promise<{ readonly value?: Uint8Array | undefined; readonly done: boolean }>;
	cancel(): Promise<void>;
}

/** The chat events of one upstream stream, read when asked for. */
export class EventSource {
	readonly #reader: Reader;
	readonly #parser: SseParser;
	/** An error that came behind good events of the same read: thrown by the next. */
	#pendingError: unknown = null;
	readonly #frames: EventFrame[] = [];
	#misses = 0;
	#finishReasonSeen = false;
	#ended = false;
	#usage: TokenUsage | null = null;
	readonly #clock: Clock;
	/** Called with each read of the network: bytes came, be it only comments. */
	readonly #onBytes: () => void;

	constructor(body: ReadableStream<Uint8Array>, maxEventBytes: number, clock: Clock, onBytes: () => void) {
		this.#clock = clock;
		this.#reader = body.getReader();
		this.#parser = new SseParser(maxEventBytes);
		this.#onBytes = onBytes;
	}

	/** The last usage wins, wherever it stood. */
	get usage(): TokenUsage | null {
		return this.#usage;
	}

	/**
	 * The events that one read brings, never none unless the stream is done; null at a proper end. A proper end
	 * is `[DONE]`; or the end of the body after a finish_reason and usage, since some servers leave `[DONE]` out.
	 * Throws UpstreamFailure for an error event, broken JSON, a cut stream, and what the connection throws.
	 */
	async next(): Promise<EventBatch | null> {
		for (;;) {
			if (this.#pendingError !== null) throw this.#pendingError;
			if (this.#ended) return null;
			const { value } = await this.#reader.read();
			if (value === undefined) {
				this.#ended = true;
				if (this.#finishReasonSeen && this.#usage && !this.#parser.pending) return null;
				throw broken("the stream was cut: no [DONE]");
			}
			this.#onBytes();
			const events = this.#events(value);
			if (this.#parser.done && this.#pendingError === null) {
				this.#ended = true;
				void this.#drain();
				return { events, done: true };
			}
			if (events.length > 0) return { events, done: false };
		}
	}

	/** Lets the upstream go. A stream that has ended properly is left to drain, so that its connection lives on. */
	cancel(): void {
		if (this.#parser.done && this.#pendingError === null) return;
		this.#ended = true;
		letGo(this.#reader);
	}

	#events(chunk: Uint8Array): ChatEvent[] {
		const texts: string[] = [];
		const events: ChatEvent[] = [];
		let fault: unknown = null;
		try {
			this.#parser.feed(chunk, texts);
		} catch (error) {
			fault = broken(error instanceof Error ? error.message : "the stream is no event stream");
		}
		try {
			for (const text of texts) events.push(this.#framed(text) ?? this.#parsed(text));
		} catch (error) {
			fault = error;
		}
		if (fault !== null && events.length === 0) throw fault;
		this.#pendingError = fault;
		return events;
	}

	#framed(text: string): ChatEvent | null {
		for (const frame of this.#frames) {
			const said = frame.said(text);
			if (said === null) continue;
			this.#misses = 0;
			return new FramedEvent(text, frame, said);
		}
		return null;
	}

	#parsed(text: string): ChatEvent {
		let parsed: unknown;
		try {
			parsed = JSON.parse(text);
		} catch {
			throw broken("an event of the stream is no JSON");
		}
		if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
			throw broken("an event of the stream is no JSON object");
		const body = parsed as Readonly<Record<string, unknown>>;
		if (isErrorBody(body)) throw failureOfAnswer(200, body, null);
		if (body.usage || body.x_groq || body.eval_count) this.#usage = usageOf(body) ?? this.#usage;
		if (!this.#finishReasonSeen) this.#finishReasonSeen = hasFinishReason(body.choices);
		if (this.#misses < MAX_MISSES && text.length <= MAX_FRAME_LENGTH) this.#learn(text, body);
		return { text, body, frame: null, said: "" };
	}

	#learn(text: string, body: Readonly<Record<string, unknown>>): void {
		this.#misses++;
		const frame = frameOf(text, body);
		if (frame === null) return;
		if (this.#frames.length === MAX_FRAMES) this.#frames.pop();
		this.#frames.unshift(frame);
	}

	/** Reads what stands between `[DONE]` and the end of the body, for a moment. */
	async #drain(): Promise<void> {
		const cancelTimer = this.#clock.after(DRAIN_MS, () => letGo(this.#reader));
		try {
			while (!(await this.#reader.read()).done);
		} catch {
			// The answer is whole: how its connection ends is nobody's matter.
		} finally {
			cancelTimer();
		}
	}
}

function hasFinishReason(choices: unknown): boolean {
	if (!Array.isArray(choices)) return false;
	return choices.some((choice) => typeof (choice as { finish_reason?: unknown } | null)?.finish_reason === "string");
}

/** An event that is known without having been parsed. */
class FramedEvent implements ChatEvent {
	readonly text: string;
	readonly frame: EventFrame;
	readonly said: string;

	constructor(text: string, frame: EventFrame, said: string) {
		this.text = text;
		this.frame = frame;
		this.said = said;
	}

	get body(): Readonly<Record<string, unknown>> {
		return JSON.parse(this.text) as Record<string, unknown>;
	}
}
