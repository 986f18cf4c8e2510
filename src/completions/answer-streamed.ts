import type { TokenUsage } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../server/client-left.ts";
import { type DirectSink, directStream } from "../server/direct-stream.ts";
import type { MeteredAnswer, Settlement } from "../server/endpoint.ts";
import { asApiError } from "../server/error-body.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { ChatStream, ChatUpstreams } from "../upstreams/chat/port.ts";
import { tokenUsageOf } from "../upstreams/index.ts";
import type { AnswerForm, StreamForm } from "./answer-form.ts";
import { askInFormat } from "./formatted.ts";
import { FormattedStream } from "./formatted-stream.ts";
import { ReceivedOutput } from "./received.ts";
import { type ChatSession, completionId } from "./session.ts";
import { ThinkingStream } from "./thinking.ts";

export interface StreamTimes {
	/** Silence after which a comment line keeps the connection open. */
	readonly pingMs: number;
	/** Waiting after which the 200 goes out, whatever the upstream does. */
	readonly earlyHeadersMs: number;
}

/** Past this share of the ceiling a stream is ended (docs/money.md). */
const CEILING_SLACK = 1.1;
/** The least share of the ceiling between two counts of one output. */
const COUNTING_STEP = 0.05;

/**
 * Answers as server-sent events. Until the first event, or a time limit, a failure is still a normal error;
 * after it the stream goes on, and ends with the events of a proper end, or with an error event and without them.
 */
export async function answerStreamed(
	session: ChatSession,
	upstreams: ChatUpstreams,
	settlement: Settlement,
	times: StreamTimes,
	form: AnswerForm,
): Promise<MeteredAnswer> {
	const { forward, format } = session;
	const stream =
		format === null
			? upstreams.stream(forward)
			: new FormattedStream(
					(signal) => askInFormat(session, format, { ...forward, stream: false, signal }, upstreams),
					forward.signal,
				);
	const run = new StreamRun(session, stream, settlement, times, form.stream(session));
	const early = await run.begin();
	if (early === "left") return CLIENT_LEFT_ANSWER;
	if (stream.retries > 0) session.call.headers["x-retry-count"] = String(stream.retries);
	if (stream.upstream !== null) session.call.headers["x-service-model-router"] = stream.upstream;
	return {
		status: 200,
		type: "text/event-stream",
		body: run.readable(),
		headers: { "Cache-Control": "no-cache" },
		ended: run.ended,
	};
}

class StreamRun {
	readonly #session: ChatSession;
	readonly #stream: ChatStream;
	readonly #settlement: Settlement;
	readonly #times: StreamTimes;
	readonly #output: ReceivedOutput;
	readonly #form: StreamForm;
	readonly #thinking: ThinkingStream | null;
	/** Output tokens of all choices past which the stream is ended. */
	readonly #ceiling: number;
	/** The cheap measure of the output past which its tokens are counted. */
	#countPast: number;
	/** It was ended at its ceiling. */
	#isCut = false;
	#usage: Record<string, unknown> | null = null;
	#started = false;
	#lastWriteMs = 0;
	/** Wakes whoever waits for a caller that has left. */
	#onLeft: () => void = () => {};
	readonly ended: Promise<void>;
	#end: () => void = () => {};

	constructor(session: ChatSession, stream: ChatStream, settlement: Settlement, times: StreamTimes, form: StreamForm) {
		this.#session = session;
		this.#stream = stream;
		this.#settlement = settlement;
		this.#times = times;
		this.#form = form;
		this.#output = new ReceivedOutput({ isSealed: session.forward.sealed !== undefined });
		this.#thinking = session.thinking === null || session.format !== null ? null : new ThinkingStream(session.thinking);
		this.#ceiling = session.maxTokens === null ? Number.POSITIVE_INFINITY : session.maxTokens * session.choices * CEILING_SLACK;
		this.#countPast = this.#ceiling;
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
	}

	/** Waits for the first event, or until the 200 must go out. Throws what a normal error answer is made of. */
	async begin(): Promise<"go" | "left"> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		const commit = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, this.#times.earlyHeadersMs);
			this.#stream.headers.then(
				() => {
					clearTimeout(timer);
					timer = setTimeout(resolve, this.#times.pingMs);
				},
				() => {},
			);
		});
		let failure: unknown;
		try {
			// A caller that leaves ends the stream too.
			await Promise.race([this.#stream.opened, commit]);
		} catch (error) {
			failure = error;
		} finally {
			clearTimeout(timer);
		}
		if (failure === undefined && !this.#session.call.signal.aborted) return "go";
		this.#stream.cancel();
		if (this.#session.call.signal.aborted && (await this.#postLeft())) return "left";
		if (failure !== undefined) await this.#session.meter.postBefore(asApiError(failure).status)?.durable;
		throw failure ?? new ApiError("UNKNOWN_ERROR", { message: "The caller left before the request was sent on" });
	}

	/** The body. Where nobody ever reads it, the caller's leaving still settles. */
	readable(): ReadableStream {
		const { signal } = this.#session.call;
		const left = () => {
			this.#onLeft();
			if (!this.#started) void this.#abandon();
		};
		if (signal.aborted) left();
		else signal.addEventListener("abort", left, { once: true });
		return directStream((sink) => this.#pump(sink));
	}

	async #pump(sink: DirectSink): Promise<void> {
		this.#started = true;
		this.#lastWriteMs = performance.now();
		const pings = this.#pings(sink);
		try {
			await this.#relay(sink);
		} catch (error) {
			await this.#broken(sink, error);
		} finally {
			pings.stop();
			this.#stream.cancel();
			this.#settlement.void();
			try {
				sink.close();
			} catch {
				// The caller has left: there is nobody to close towards.
			}
			this.#end();
		}
	}

	async #relay(sink: DirectSink): Promise<void> {
		await this.#stream.each(({ events }) => this.#pass(sink, events));
		if (this.#isCut) await this.#write(sink, this.#form.cut());
		await this.#finish(sink);
	}

	/** Writes what events bring, up to the one that passes the ceiling. A promise where there is something to wait for. */
	#pass(sink: DirectSink, events: readonly ChatEvent[]): Promise<unknown> | null {
		let text = "";
		let index = 0;
		for (const event of events) {
			if (this.#take(event)) {
				if (this.#output.tokensAtLeast > this.#countPast) return this.#passCounted(sink, text, events.slice(index));
				text += this.#told(event);
			}
			index++;
		}
		return text === "" ? null : this.#write(sink, text);
	}

	/**
	 * The cheap measure says that the first of these events, which is taken in, passes the ceiling: of servers that send
	 * a character a chunk, and of long runs of one character, it says so too early.
	 */
	async #passCounted(sink: DirectSink, before: string, events: readonly ChatEvent[]): Promise<void> {
		if (before !== "") await this.#write(sink, before);
		const tokens = await this.#session.meter.answerTokens(this.#output);
		if (tokens > this.#ceiling) {
			this.#isCut = true;
			this.#stream.cancel();
			return;
		}
		this.#countPast = this.#output.tokensAtLeast + Math.max(this.#ceiling - tokens, this.#ceiling * COUNTING_STEP);
		const [first, ...rest] = events;
		const told = first === undefined ? "" : this.#told(first);
		if (told !== "") await this.#write(sink, told);
		await this.#pass(sink, rest);
	}

	#told(event: ChatEvent): string {
		return this.#form.event(this.#thinking === null ? event : this.#thinking.event(event));
	}

	/** Takes an event in; false where it has nothing for the caller. */
	#take(event: ChatEvent): boolean {
		if (event.frame !== null) this.#output.addPiece(event.piece);
		else {
			const { choices, usage, id } = event.body;
			this.#session.receipt?.named(completionId(id, this.#session.call.requestId), id);
			if (typeof usage === "object" && usage !== null) {
				this.#usage = usage as Record<string, unknown>;
				if (Array.isArray(choices) && choices.length === 0) return false;
			}
			this.#output.add(choices);
		}
		return true;
	}

	/** What the upstream told, under whatever name. */
	get #toldUsage(): TokenUsage | null {
		return (this.#usage === null ? null : tokenUsageOf(this.#usage)) ?? this.#stream.usage;
	}

	/** A proper end: post, and only then the last events. */
	async #finish(sink: DirectSink): Promise<void> {
		const { meter } = this.#session;
		meter.usage = this.#toldUsage;
		const posted = await meter.post(this.#output, 200, this.#isCut ? { partial: true, atMost: this.#ceiling } : {});
		if (posted === null || meter.usage === null) return;
		await posted.durable;
		const told = meter.usage.counted || meter.isSum || this.#isCut ? null : (this.#usage ?? {});
		const written = this.#write(sink, this.#form.end({ posted, usage: meter.usage }, told));
		this.#session.receipt?.end(this.#stream.upstream);
		await written;
	}

	/** The stream broke: the caller left, or the upstream failed. */
	async #broken(sink: DirectSink, thrown: unknown): Promise<void> {
		if (this.#session.call.signal.aborted) {
			await this.#postLeft();
			return;
		}
		const error = asApiError(thrown);
		this.#stream.cancel();
		if (!this.#output.isEmpty) {
			const { meter } = this.#session;
			meter.usage = this.#toldUsage;
			const posted = await meter.post(this.#output, error.status, { partial: true });
			await posted?.durable;
		} else await this.#session.meter.postBefore(error.status)?.durable;
		await this.#write(sink, this.#form.failed(error));
	}

	/** Nobody will read the answer: stop the upstream, post what it did. */
	async #abandon(): Promise<void> {
		this.#started = true;
		this.#stream.cancel();
		try {
			await this.#postLeft();
		} finally {
			this.#settlement.void();
			this.#end();
		}
	}

	/** Prompt and output received so far, where the upstream was sent the request. */
	async #postLeft(): Promise<boolean> {
		const { meter } = this.#session;
		this.#stream.cancel();
		if (meter.sentTo === null) return false;
		meter.usage = this.#toldUsage;
		const posted = await meter.post(this.#output, CLIENT_LEFT, { partial: true });
		await posted?.durable;
		return posted !== null;
	}

	/** Writes at once; a promise where the caller reads too slowly, until it has caught up or left. */
	#write(sink: DirectSink, text: string): Promise<unknown> | null {
		if (this.#session.call.signal.aborted) throw new ApiError("UNKNOWN_ERROR", { message: "The caller has left" });
		const written = sink.write(text);
		sink.flush();
		this.#session.receipt?.wrote(text);
		this.#lastWriteMs = performance.now();
		if (typeof written === "number") return null;
		const left = new Promise<void>((resolve) => {
			this.#onLeft = resolve;
		});
		return Promise.race([written, left]);
	}

	#pings(sink: DirectSink): { stop(): void } {
		let timer: ReturnType<typeof setTimeout>;
		const arm = (afterMs: number): void => {
			timer = setTimeout(() => {
				const silentMs = performance.now() - this.#lastWriteMs;
				if (silentMs >= this.#times.pingMs) {
					this.#lastWriteMs = performance.now();
					try {
						sink.write(this.#form.ping);
						sink.flush();
					} catch {
						return;
					}
					arm(this.#times.pingMs);
				} else {
					arm(this.#times.pingMs - silentMs);
				}
			}, afterMs);
		};
		arm(this.#times.pingMs);
		return { stop: () => clearTimeout(timer) };
	}
}
