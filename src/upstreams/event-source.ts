import type { TokenUsage } from "../journal/records.ts";
import { SseEventTooLarge, SseParser } from "../wire/index.ts";
import type { Clock } from "./clock.ts";
import { letGo } from "./connect.ts";
import { broken, failureOfAnswer, isErrorBody } from "./failures.ts";
import type { ChatEvent, EventBatch } from "./port.ts";
import { usageOf } from "./usage.ts";

/** How long the end of a body may take after `[DONE]`, so that its connection can be used again. */
const DRAIN_MS = 1_000;

const decoder = new TextDecoder("utf-8", { fatal: true });

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
		const events: ChatEvent[] = [];
		try {
			for (const bytes of this.#parser.feed(chunk)) events.push(this.#event(bytes));
		} catch (error) {
			const failure = error instanceof SseEventTooLarge ? broken(error.message) : error;
			if (events.length === 0) throw failure;
			this.#pendingError = failure;
		}
		return events;
	}

	#event(bytes: Uint8Array): ChatEvent {
		let parsed: unknown;
		try {
			parsed = JSON.parse(decoder.decode(bytes));
		} catch {
			throw broken("an event of the stream is no JSON");
		}
		if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
			throw broken("an event of the stream is no JSON object");
		const body = parsed as Readonly<Record<string, unknown>>;
		if (isErrorBody(body)) throw failureOfAnswer(200, body, null);
		if (body.usage || body.x_groq || body.eval_count) this.#usage = usageOf(body) ?? this.#usage;
		if (!this.#finishReasonSeen) this.#finishReasonSeen = hasFinishReason(body.choices);
		return { bytes, body };
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
