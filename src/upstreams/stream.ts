import { ApiError } from "../errors/index.ts";
import type { TokenUsage } from "../journal/records.ts";
import { asFailure, errorBody, letGo } from "./connect.ts";
import { EventSource } from "./event-source.ts";
import { broken, failureOfAnswer } from "./failures.ts";
import type { ChatForward, ChatStream, EventBatch } from "./port.ts";
import { logFailure, Tries, type Try, type TryTools } from "./tries.ts";
import { readWhole } from "./unary.ts";

const MAX_ERROR_BYTES = 64 * 1024;

interface OpenStream {
	readonly source: EventSource;
	readonly current: Try;
	readonly first: EventBatch;
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
	/** Ends what runs where the route cancels: the caller's own signal may never fire. */
	readonly #canceller = new AbortController();
	readonly #opening: Promise<OpenStream>;
	#headersCame: () => void = () => {};
	#open: OpenStream | null = null;
	#firstTaken = false;
	#source: EventSource | null = null;
	#upstream: string | null = null;

	constructor(call: ChatForward, tools: TryTools) {
		const signal = AbortSignal.any([call.signal, this.#canceller.signal]);
		this.#call = { ...call, signal, onSent: (upstream) => this.#sent(call, upstream) };
		this.#tools = tools;
		this.#tries = new Tries(this.#call, tools);
		const headers = Promise.withResolvers<void>();
		this.#headersCame = headers.resolve;
		this.headers = headers.promise;
		this.#opening = this.#begin();
		this.#opening.catch(headers.reject);
		// Both are for whoever asks; an unasked failure is no crash.
		this.headers.catch(() => {});
	}

	get upstream(): string | null {
		return this.#upstream;
	}

	get retries(): number {
		return this.#tries.retries;
	}

	get usage(): TokenUsage | null {
		return this.#source?.usage ?? null;
	}

	async next(): Promise<EventBatch | null> {
		const open = this.#open ?? (await this.#opening);
		if (!this.#firstTaken) {
			this.#firstTaken = true;
			return open.first;
		}
		open.current.watch.resume();
		try {
			const batch = await open.source.next();
			open.current.watch.pause();
			if (batch === null || batch.done) open.current.end("good");
			return batch;
		} catch (error) {
			throw this.#broke(open, error);
		}
	}

	cancel(): void {
		this.#canceller.abort(new ApiError("UNKNOWN_ERROR", { message: "The stream was cancelled" }));
	}

	#sent(call: ChatForward, upstream: string): void {
		this.#upstream = upstream;
		call.onSent(upstream);
	}

	async #begin(): Promise<OpenStream> {
		const { clock, timeouts } = this.#tools;
		const triesEndMs = clock.nowMs() + timeouts.chatStreamTriesMs;
		const open = await this.#tries.run(
			(response, current) => this.#firstBatch(response, current, triesEndMs),
			(watch, node) => watch.limit(node.limits.firstByteMs ?? timeouts.chatFirstByteMs, "first byte", triesEndMs),
		);
		// From here on leaving must free what the stream holds, whether or not somebody is reading.
		const { signal } = this.#call;
		const free = (): void => {
			open.source.cancel();
			open.current.end(null);
		};
		if (signal.aborted) {
			free();
			throw signal.reason;
		}
		signal.addEventListener("abort", free, { once: true });
		this.#open = open;
		return open;
	}

	async #firstBatch(response: Response, current: Try, triesEndMs: number): Promise<OpenStream> {
		const { watch, node } = current;
		const { body } = response;
		await refuseOtherTypes(response, this.#tools.maxAnswerBytes);
		if (!body) throw broken("a stream without a body", response.status);
		this.#headersCame();
		const idleMs = node.limits.idleMs ?? this.#tools.timeouts.chatIdleMs;
		let silent = true;
		const source = new EventSource(body, this.#tools.maxEventBytes, this.#tools.clock, () => {
			if (silent) watch.limit(idleMs, "event", triesEndMs);
			else watch.touch();
			silent = false;
		});
		this.#source = source;
		try {
			const first = await source.next();
			if (first === null || first.events.length === 0) throw broken("the stream ended before its first event");
			if (first.done) current.end("good");
			else {
				watch.limit(idleMs, "event");
				watch.pause();
			}
			return { source, current, first };
		} catch (error) {
			source.cancel();
			throw error;
		}
	}

	/** After the first event: the stream is over, and no other upstream can take it up. */
	#broke(open: OpenStream, error: unknown): unknown {
		const { current, source } = open;
		source.cancel();
		const { signal, requestId } = this.#call;
		if (signal.aborted) {
			current.end(null);
			return signal.reason;
		}
		const failure = asFailure(error, current.watch);
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
