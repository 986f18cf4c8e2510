import { ApiError } from "../../errors/index.ts";
import type { TokenUsage } from "../../journal/records.ts";
import { nextTurn } from "../../wire/index.ts";
import { type Attempt, Attempts, type ChatAttemptDeps, logFailure } from "../attempts.ts";
import { asFailure, type BodyReader, cancelBody, drainBody } from "../connect.ts";
import { brokenAnswer, withoutSecrets } from "../failures.ts";
import { beginsAsChunkLine, beginsAsObject, beginsAsPage, withoutBlank } from "./body-beginning.ts";
import { chatAttempt } from "./chat-attempt.ts";
import { EventReader } from "./event-reader.ts";
import { eventsOfCompletion } from "./other-form.ts";
import type { ChatForward, ChatStream, EventBatch } from "./port.ts";
import { checkedCompletion } from "./whole-answer.ts";

const LF = 0x0a;

/** Bytes read of a stream in one turn: more would be thousands of events. */
const ONE_TURN_BYTES = 16 * 1024;

/** The answer being read: of the current attempt, then of the one that yielded an event. */
interface OpenAnswer {
	readonly reader: BodyReader;
	readonly events: EventReader;
	readonly current: Attempt;
}

/**
 * A stream over the upstreams of a model. It starts at once and reads ahead to the first event, until which another
 * upstream can take over. From then on it reads when `each` is called, and belongs to one upstream.
 */
export class UpstreamStream implements ChatStream {
	readonly headers: Promise<void>;
	readonly opened: Promise<EventBatch>;
	readonly #call: ChatForward;
	readonly #deps: ChatAttemptDeps;
	readonly #attempts: Attempts;
	#headersCame: () => void = nothing;
	#answer: OpenAnswer | null = null;
	/** Bytes received with the first event and not read yet. */
	#rest: Uint8Array[] = [];
	/** True when nothing more will come. */
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
		// Nobody may await these promises, and an unhandled failure must not be a crash.
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
		/** Received bytes that are too many for one turn of the event loop. */
		let rest: Uint8Array[] | null = this.#rest;
		for (;;) {
			const waiting = take(batch);
			// True at a proper end, or where `take` cancelled, which may happen while its promise is awaited.
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
				// This is inlined since it runs for each piece of every stream.
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
				batch = this.#eventsOf(answer, bytes);
			} catch (error) {
				throw this.#endWithFailure(answer, error);
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
			(timeout, server) => timeout.limit(server.limits.firstByteMs ?? timeouts.chatFirstByteMs, "first byte", triesEndMs),
		);
	}

	async #firstBatch(response: Response, current: Attempt, triesEndMs: number): Promise<EventBatch> {
		const { timeout, server } = current;
		const { body } = response;
		if (!body) throw brokenAnswer("a stream without a body", response.status);
		this.#headersCame();
		const idleMs = server.limits.idleMs ?? this.#deps.timeouts.chatIdleMs;
		const answer = {
			reader: body.getReader(),
			events: new EventReader(this.#deps.maxEventBytes, server.mask, this.#call.choices),
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
				// From now on a caller that leaves must free the stream, even while nobody reads.
				timeout.onCallerLeft = () => this.#free(this.#call.signal.reason);
			}
			return first;
		} catch (error) {
			cancelBody(answer.reader);
			throw error;
		}
	}

	/**
	 * Reads up to the first event.
	 * @param onFirstBytes called at the first bytes, even if they are only comments
	 */
	async #readFirst(answer: OpenAnswer, onFirstBytes: () => void): Promise<EventBatch> {
		const { reader, events, current } = answer;
		/** null while all received bytes are blank. */
		let isObject: boolean | null = null;
		for (let silent = true; ; silent = false) {
			let { value } = await reader.read();
			if (value === undefined) return lastEvents(events);
			if (silent) onFirstBytes();
			else current.timeout.onBytes();
			if (isObject === null && beginsAsPage(value)) throw brokenAnswer("a stream request was answered with a page of HTML", 200);
			isObject ??= beginsAsObject(value);
			if (isObject === true) {
				value = await this.#read(answer, withoutBlank(value), "line");
				if (!beginsAsChunkLine(value)) return this.#eventsOfWhole(answer, value);
				isObject = false;
			}
			this.#rest = slicesOf(value);
			for (let bytes = this.#rest.shift(); bytes !== undefined; bytes = this.#rest.shift()) {
				const complete = events.take(bytes);
				if (complete.length > 0) return { events: complete, done: events.done };
				if (events.done) break;
				if (this.#rest.length > 0) await nextTurn();
			}
			if (events.done) throw brokenAnswer("the stream ended before its first event");
		}
	}

	/** Returns the events of a whole answer, from a server that does not stream. */
	async #eventsOfWhole(answer: OpenAnswer, beginning: Uint8Array): Promise<EventBatch> {
		const { body } = await checkedCompletion(await this.#read(answer, beginning, "body"), 200, this.#call.choices);
		const { events } = answer;
		return { events: events.take(eventsOfCompletion(body)), done: events.done };
	}

	/** Reads a body on, from its beginning to the end of its first line or of the body. */
	#read({ reader, current }: OpenAnswer, beginning: Uint8Array, upTo: "line" | "body"): Promise<Uint8Array> {
		const isEnough = upTo === "line" ? (piece: Uint8Array) => piece.includes(LF) : () => false;
		return restOf(reader, beginning, { maxBytes: this.#deps.maxEventBytes, isEnough, onPiece: () => current.timeout.onBytes() });
	}

	/** Returns the events of a read; none if it was comments only, or the end of the body. */
	#eventsOf(answer: OpenAnswer, bytes: Uint8Array | undefined): EventBatch {
		const { events, current } = answer;
		if (bytes === undefined) {
			const last = events.end();
			this.#endProperly(answer);
			return { events: last, done: true };
		}
		current.timeout.onBytes();
		const complete = events.take(bytes);
		const { done } = events;
		if (done) this.#endProperly(answer);
		return { events: complete, done };
	}

	#endProperly({ reader, events, current }: OpenAnswer): void {
		this.#ended = true;
		current.end("good");
		if (events.done) void drainBody(reader, this.#deps.clock);
	}

	/** Stops the current attempt where the stream is no longer needed. */
	#free(reason: unknown): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#endReason = reason;
		if (this.#answer === null) return;
		cancelBody(this.#answer.reader);
		this.#answer.current.end(null);
	}

	/** Ends the stream after a failure past its first event: no other upstream can take over. */
	#endWithFailure({ current, reader }: OpenAnswer, error: unknown): unknown {
		if (this.#endReason !== null) return this.#endReason;
		const { signal, requestId } = this.#call;
		if (signal.aborted) {
			this.#free(signal.reason);
			return signal.reason;
		}
		const failure = withoutSecrets(asFailure(error, current.timeout), current.server.mask);
		this.#ended = true;
		this.#endReason = failure.answer;
		cancelBody(reader);
		current.timeout.abort(failure);
		current.end(failure);
		logFailure(this.#deps.log, requestId, current.server.name, failure);
		return failure.answer;
	}
}

/** Returns the events of a body that ended before an event was complete. */
function lastEvents(reader: EventReader): EventBatch {
	const events = reader.end();
	if (events.length === 0) throw brokenAnswer("the stream ended before its first event");
	return { events, done: true };
}

interface ReadOptions {
	readonly maxBytes: number;
	/** Returns true for the last needed piece. */
	readonly isEnough: (piece: Uint8Array) => boolean;
	readonly onPiece: () => void;
}

/** Returns the beginning of a body with the bytes that follow it. */
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

/** Returns the bytes in slices, each read in one turn. */
function slicesOf(bytes: Uint8Array): Uint8Array[] {
	if (bytes.length <= ONE_TURN_BYTES) return [bytes];
	const slices: Uint8Array[] = [];
	for (let at = 0; at < bytes.length; at += ONE_TURN_BYTES) slices.push(bytes.subarray(at, at + ONE_TURN_BYTES));
	return slices;
}

function nothing(): void {}
