import { ApiError } from "../errors/index.ts";
import type { TokenUsage } from "../journal/records.ts";
import { asFailure, type BodyReader, drain, errorBody, letGo } from "./connect.ts";
import { EventReader } from "./event-reader.ts";
import { broken, failureOfAnswer, withoutSecrets } from "./failures.ts";
import type { ChatForward, ChatStream, EventBatch } from "./port.ts";
import { logFailure, Tries, type Try, type TryTools } from "./tries.ts";
import { readWhole } from "./unary.ts";

const MAX_ERROR_BYTES = 64 * 1024;

/** The answer that is being read: of the try under way, then of the one that gave an event. */
interface OpenAnswer {
	readonly reader: BodyReader;
	readonly events: EventReader;
	readonly current: Try;
}

/**
 * A stream over the upstreams of a model. It begins at once and looks ahead to the first event, where a next
 * upstream can still take over; from there on it reads when `next` is called, and belongs to one upstream.
 */
export class UpstreamStream implements ChatStream {
	readonly headers: Promise<void>;
	readonly #call: ChatForward;
	readonly #tools: TryTools;
	readonly #tries: Tries;
	readonly #opening: Promise<EventBatch>;
	#headersCame: () => void = nothing;
	#answer: OpenAnswer | null = null;
	#firstTaken = false;
	/** Nothing more will come; the reason where that is no proper end. */
	#ended = false;
	#endReason: unknown = null;

	constructor(call: ChatForward, tools: TryTools) {
		this.#call = call;
		this.#tools = tools;
		this.#tries = new Tries(call, tools);
		const headers = Promise.withResolvers<void>();
		this.#headersCame = headers.resolve;
		this.headers = headers.promise;
		this.#opening = this.#open();
		this.#opening.catch(headers.reject);
		// For whoever asks; an unasked failure is no crash.
		this.headers.catch(nothing);
	}

	get upstream(): string | null {
		return this.#tries.upstream;
	}

	get retries(): number {
		return this.#tries.retries;
	}

	get usage(): TokenUsage | null {
		return this.#answer?.events.usage ?? null;
	}

	/** One step behind the network's own promise: this runs for every read. */
	next(): Promise<EventBatch | null> {
		if (!this.#firstTaken) {
			this.#firstTaken = true;
			return this.#opening;
		}
		const answer = this.#answer;
		if (this.#ended || answer === null) return this.#endReason === null ? Promise.resolve(null) : Promise.reject(this.#endReason);
		if (answer.events.fault !== null) return Promise.reject(this.#broke(answer, answer.events.fault));
		answer.current.watch.resume();
		return answer.reader.read().then(this.#read, this.#failed);
	}

	cancel(): void {
		if (this.#ended) return;
		const reason = new ApiError("UNKNOWN_ERROR", { message: "The stream was cancelled" });
		this.#tries.stop(reason);
		this.#free(reason);
	}

	async #open(): Promise<EventBatch> {
		const { clock, timeouts } = this.#tools;
		const triesEndMs = clock.nowMs() + timeouts.chatStreamTriesMs;
		return this.#tries.run(
			(response, current) => this.#firstBatch(response, current, triesEndMs),
			(watch, node) => watch.limit(node.limits.firstByteMs ?? timeouts.chatFirstByteMs, "first byte", triesEndMs),
		);
	}

	async #firstBatch(response: Response, current: Try, triesEndMs: number): Promise<EventBatch> {
		const { watch, node } = current;
		const { body } = response;
		await refuseOtherTypes(response, this.#tools.maxAnswerBytes);
		if (!body) throw broken("a stream without a body", response.status);
		this.#headersCame();
		const idleMs = node.limits.idleMs ?? this.#tools.timeouts.chatIdleMs;
		const answer = { reader: body.getReader(), events: new EventReader(this.#tools.maxEventBytes), current };
		this.#answer = answer;
		try {
			const first = await this.#readFirst(answer, () => watch.limit(idleMs, "event", triesEndMs));
			this.#tries.throwIfStopped();
			if (first.done) this.#endProperly(answer);
			else {
				watch.limit(idleMs, "event");
				watch.pause();
				// From here on leaving must free what the stream holds, whether or not somebody is reading.
				watch.whenLeft = () => this.#free(this.#call.signal.reason);
			}
			return first;
		} catch (error) {
			letGo(answer.reader);
			throw error;
		}
	}

	/** `onFirstBytes`: the upstream speaks, be it only in comments. */
	async #readFirst({ reader, events, current }: OpenAnswer, onFirstBytes: () => void): Promise<EventBatch> {
		for (let silent = true; ; silent = false) {
			const { value } = await reader.read();
			if (value === undefined) throw broken("the stream ended before its first event");
			if (silent) onFirstBytes();
			else current.watch.touch();
			const found = events.take(value);
			if (found.length > 0) return { events: found, done: events.done };
			if (events.done) throw broken("the stream ended before its first event");
		}
	}

	readonly #read = ({ value }: { readonly value?: Uint8Array | undefined }): EventBatch | null | Promise<EventBatch | null> => {
		const answer = this.#answer;
		if (this.#endReason !== null || answer === null) throw this.#endReason;
		const { events, current } = answer;
		try {
			if (value === undefined) {
				events.end();
				this.#endProperly(answer);
				return null;
			}
			const found = events.take(value);
			const { done } = events;
			if (done) this.#endProperly(answer);
			// Comments only: the upstream is alive.
			else if (found.length === 0) return this.next();
			current.watch.pause();
			return { events: found, done };
		} catch (error) {
			throw this.#broke(answer, error);
		}
	};

	readonly #failed = (error: unknown): never => {
		throw this.#answer === null ? error : this.#broke(this.#answer, error);
	};

	#endProperly({ reader, events, current }: OpenAnswer): void {
		this.#ended = true;
		current.end("good");
		if (events.done) void drain(reader, this.#tools.clock);
	}

	/** Ends what runs, where the stream is not wanted any more. */
	#free(reason: unknown): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#endReason = reason;
		if (this.#answer === null) return;
		letGo(this.#answer.reader);
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
		const failure = withoutSecrets(asFailure(error, current.watch), current.node.secrets);
		this.#ended = true;
		this.#endReason = failure.answer;
		letGo(reader);
		current.watch.abort(failure);
		current.end(failure);
		logFailure(this.#tools.log, requestId, current.node.name, failure);
		return failure.answer;
	}
}

/** A whole JSON body is an error or a server that cannot stream; a page is a server that is no model server. */
async function refuseOtherTypes(response: Response, maxBytes: number): Promise<void> {
	const type = response.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
	if (type === "application/json") {
		const bytes = await readWhole(response, Math.min(maxBytes, MAX_ERROR_BYTES));
		const body = errorBody(bytes, undefined) as Readonly<Record<string, unknown>>;
		throw body.error ? failureOfAnswer(200, body, null) : broken("a stream request was answered with one JSON body", 200);
	}
	if (type !== "text/html") return;
	letGo(response.body);
	throw broken("a stream request was answered with a page of HTML", 200);
}

function nothing(): void {}
