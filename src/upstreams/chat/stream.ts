import { ApiError } from "../../errors/index.ts";
import type { TokenUsage } from "../../journal/records.ts";
import { nextTurn } from "../../wire/index.ts";
import { type Attempt, Attempts, type ChatAttemptDeps, logFailure } from "../attempts.ts";
import { asFailure, type BodyReader, cancelBody, drainBody } from "../connect.ts";
import { brokenAnswer, withoutSecrets } from "../failures.ts";
import { chatAttempt } from "./chat-attempt.ts";
import { EventReader } from "./event-reader.ts";
import { beginsAsChunkLine, beginsAsJson, beginsAsPage, eventsOfCompletion, withoutBlank } from "./other-form.ts";
import type { ChatForward, ChatStream, EventBatch } from "./port.ts";
import { checkedCompletion } from "./whole-answer.ts";

const LF = 0x0a;

/** What is read of a stream in one turn: more would be thousands of events. */
const ONE_TURN_BYTES = 16 * 1024;

/** The answer that is being read: of the try under way, then of the one that gave an event. */
interface OpenAnswer {
	readonly reader: BodyReader;
	readonly events: EventReader;
	readonly current: Attempt;
}

/**
 * A stream over the upstreams of a model. It begins at once and looks ahead to the first event, where a next
 * upstream can still take over; from there on it reads when `next` is called, and belongs to one upstream.
 */
export class UpstreamStream implements ChatStream {
	readonly headers: Promise<void>;
	readonly opened: Promise<EventBatch>;
	readonly #call: ChatForward;
	readonly #deps: ChatAttemptDeps;
	readonly #attempts: Attempts;
	#headersCame: () => void = nothing;
	#answer: OpenAnswer | null = null;
	/** What came with the first event and is not read yet. */
	#rest: Uint8Array[] = [];
	/** Nothing more will come; the reason where that is no proper end. */
	#ended = false;
	#endReason: unknown = null;
	#isCancelled = false;

	constructor(call: ChatForward, deps: ChatAttemptDeps) {
		this.#call = call;
		this.#deps = deps;
		this.#attempts = new Attempts(chatAttempt(call, deps), deps);
		const headers = Promise.withResolvers<void>();
		this.#headersCame = headers.resolve;
		this.headers = headers.promise;
		this.opened = this.#open();
		// Both are for whoever asks; an unasked failure is no crash.
		this.opened.catch(headers.reject);
		this.headers.catch(nothing);
	}

	get upstream(): string | null {
		return this.#attempts.upstream;
	}

	get retries(): number {
		return this.#attempts.retries;
	}

	get usage(): TokenUsage | null {
		return this.#answer?.events.usage ?? null;
	}

	async each(take: (batch: EventBatch) => Promise<unknown> | null): Promise<void> {
		let batch = await this.opened;
		const answer = this.#answer;
		if (this.#endReason !== null || answer === null) throw this.#endReason;
		const { reader, events, current } = answer;
		let paused = true;
		/** What came in one piece and is too much for one turn of the event loop. */
		let rest: Uint8Array[] | null = this.#rest;
		for (;;) {
			const waiting = take(batch);
			// At its proper end, or cancelled by `take` itself, which may do so while it is waited for.
			const over = this.#ended;
			if (waiting !== null) {
				current.timeout.pause();
				paused = true;
				await waiting;
			}
			if (over || this.#isCancelled) return;
			if (paused) current.timeout.resume();
			paused = false;
			try {
				if (events.fault !== null) throw events.fault;
				// Here and not in a function of its own: this is run for each piece of every stream.
				let bytes = rest?.shift();
				if (bytes === undefined) {
					const { value } = await reader.read();
					bytes = value;
					rest = null;
					if (bytes !== undefined && bytes.length > ONE_TURN_BYTES) {
						rest = slicesOf(bytes);
						bytes = rest.shift();
					}
				} else await nextTurn();
				if (this.#endReason !== null) throw this.#endReason;
				batch = this.#taken(answer, bytes);
			} catch (error) {
				throw this.#broke(answer, error);
			}
		}
	}

	cancel(): void {
		if (this.#ended) return;
		this.#isCancelled = true;
		const reason = new ApiError("UNKNOWN_ERROR", { message: "The stream was cancelled" });
		this.#attempts.stop(reason);
		this.#free(reason);
	}

	#open(): Promise<EventBatch> {
		const { clock, timeouts } = this.#deps;
		const triesEndMs = clock.monotonicMs() + timeouts.chatStreamTriesMs;
		return this.#attempts.run(
			(response, current) => this.#firstBatch(response, current, triesEndMs),
			(watch, node) => watch.limit(node.limits.firstByteMs ?? timeouts.chatFirstByteMs, "first byte", triesEndMs),
		);
	}

	async #firstBatch(response: Response, current: Attempt, triesEndMs: number): Promise<EventBatch> {
		const { timeout, node } = current;
		const { body } = response;
		if (!body) throw brokenAnswer("a stream without a body", response.status);
		this.#headersCame();
		const idleMs = node.limits.idleMs ?? this.#deps.timeouts.chatIdleMs;
		const answer = {
			reader: body.getReader(),
			events: new EventReader(this.#deps.maxEventBytes, node.mask, this.#call.choices),
			current,
		};
		this.#answer = answer;
		try {
			const first = await this.#readFirst(answer, () => timeout.limit(idleMs, "event", triesEndMs));
			this.#attempts.throwIfStopped();
			if (first.done) this.#endProperly(answer);
			else {
				timeout.limit(idleMs, "event");
				timeout.pause();
				// From here on leaving must free what the stream holds, whether or not somebody is reading.
				timeout.onCallerLeft = () => this.#free(this.#call.signal.reason);
			}
			return first;
		} catch (error) {
			cancelBody(answer.reader);
			throw error;
		}
	}

	/** `onFirstBytes`: the upstream speaks, be it only in comments. */
	async #readFirst(answer: OpenAnswer, onFirstBytes: () => void): Promise<EventBatch> {
		const { reader, events, current } = answer;
		/** null while all that came is blank. */
		let isJson: boolean | null = null;
		for (let silent = true; ; silent = false) {
			let { value } = await reader.read();
			if (value === undefined) return lastEvents(events);
			if (silent) onFirstBytes();
			else current.timeout.onBytes();
			if (isJson === null && beginsAsPage(value)) throw brokenAnswer("a stream request was answered with a page of HTML", 200);
			isJson ??= beginsAsJson(value);
			if (isJson === true) {
				value = await this.#read(answer, withoutBlank(value), "line");
				if (!beginsAsChunkLine(value)) return this.#ofWhole(answer, value);
				isJson = false;
			}
			this.#rest = slicesOf(value);
			for (let bytes = this.#rest.shift(); bytes !== undefined; bytes = this.#rest.shift()) {
				const found = events.take(bytes);
				if (found.length > 0) return { events: found, done: events.done };
				if (events.done) break;
				if (this.#rest.length > 0) await nextTurn();
			}
			if (events.done) throw brokenAnswer("the stream ended before its first event");
		}
	}

	/** A server that does not stream: what its whole answer says, as events. */
	async #ofWhole(answer: OpenAnswer, beginning: Uint8Array): Promise<EventBatch> {
		const { body } = await checkedCompletion(await this.#read(answer, beginning, "body"), 200, this.#call.choices);
		const { events } = answer;
		return { events: events.take(eventsOfCompletion(body)), done: events.done };
	}

	/** A body whose beginning was read: up to the end of its first line, or to its own. */
	#read({ reader, current }: OpenAnswer, beginning: Uint8Array, upTo: "line" | "body"): Promise<Uint8Array> {
		const isEnough = upTo === "line" ? (piece: Uint8Array) => piece.includes(LF) : () => false;
		return restOf(reader, beginning, { maxBytes: this.#deps.maxEventBytes, isEnough, onPiece: () => current.timeout.onBytes() });
	}

	/** What a read brought: nothing where it was comments only, or the end of the body. */
	#taken(answer: OpenAnswer, bytes: Uint8Array | undefined): EventBatch {
		const { events, current } = answer;
		if (bytes === undefined) {
			const last = events.end();
			this.#endProperly(answer);
			return { events: last, done: true };
		}
		current.timeout.onBytes();
		const found = events.take(bytes);
		const { done } = events;
		if (done) this.#endProperly(answer);
		return { events: found, done };
	}

	#endProperly({ reader, events, current }: OpenAnswer): void {
		this.#ended = true;
		current.end("good");
		if (events.done) void drainBody(reader, this.#deps.clock);
	}

	/** Ends what runs, where the stream is not wanted any more. */
	#free(reason: unknown): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#endReason = reason;
		if (this.#answer === null) return;
		cancelBody(this.#answer.reader);
		this.#answer.current.end(null);
	}

	/** After the first event: the stream is over, and no other upstream can take it up. */
	#broke({ current, reader }: OpenAnswer, error: unknown): unknown {
		if (this.#endReason !== null) return this.#endReason;
		const { signal, requestId } = this.#call;
		if (signal.aborted) {
			this.#free(signal.reason);
			return signal.reason;
		}
		const failure = withoutSecrets(asFailure(error, current.timeout), current.node.mask);
		this.#ended = true;
		this.#endReason = failure.answer;
		cancelBody(reader);
		current.timeout.abort(failure);
		current.end(failure);
		logFailure(this.#deps.log, requestId, current.node.name, failure);
		return failure.answer;
	}
}

/** The events of a body that ended before one was whole. */
function lastEvents(reader: EventReader): EventBatch {
	const events = reader.end();
	if (events.length === 0) throw brokenAnswer("the stream ended before its first event");
	return { events, done: true };
}

interface ReadOptions {
	readonly maxBytes: number;
	/** True for the last piece that is wanted. */
	readonly isEnough: (piece: Uint8Array) => boolean;
	readonly onPiece: () => void;
}

/** What follows the beginning of a body, with it. */
async function restOf(
	reader: BodyReader,
	beginning: Uint8Array,
	{ maxBytes, isEnough, onPiece }: ReadOptions,
): Promise<Uint8Array> {
	const pieces = [beginning];
	let length = beginning.length;
	for (let last: Uint8Array | undefined = beginning; !isEnough(last); ) {
		if (length > maxBytes) throw brokenAnswer(`a stream request was answered with one body of more than ${maxBytes} bytes`, 200);
		({ value: last } = await reader.read());
		if (last === undefined) break;
		onPiece();
		pieces.push(last);
		length += last.length;
	}
	return pieces.length === 1 ? beginning : Buffer.concat(pieces, length);
}

/** The bytes in pieces that are read in a turn each. */
function slicesOf(bytes: Uint8Array): Uint8Array[] {
	if (bytes.length <= ONE_TURN_BYTES) return [bytes];
	const slices: Uint8Array[] = [];
	for (let at = 0; at < bytes.length; at += ONE_TURN_BYTES) slices.push(bytes.subarray(at, at + ONE_TURN_BYTES));
	return slices;
}

function nothing(): void {}
