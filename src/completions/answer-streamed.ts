import type { TokenUsage } from "../budgets/port.ts";
import { ApiError } from "../errors/index.ts";
import { CLIENT_LEFT, CLIENT_LEFT_ANSWER } from "../server/client-left.ts";
import { type DirectSink, directStream } from "../server/direct-stream.ts";
import type { MeteredAnswer, Settlement } from "../server/endpoint.ts";
import { asApiError } from "../server/error-body.ts";
import type { ChatEvent } from "../upstreams/chat/event-frame.ts";
import type { ChatStream, ChatUpstreams } from "../upstreams/chat/port.ts";
import { tokenUsageOf } from "../upstreams/index.ts";
import { type AdmittedChat, completionId } from "./admitted-chat.ts";
import type { AnswerForm, StreamForm } from "./answer-form.ts";
import { askInFormat } from "./formatted.ts";
import { FormattedStream } from "./formatted-stream.ts";
import { ReceivedOutput } from "./received.ts";
import { ThinkingStream } from "./thinking.ts";

export interface StreamTimes {
	/** Silence after which a comment line is sent to keep the connection open. */
	readonly pingMs: number;
	/** Time after which the 200 goes out, whatever the upstream does. */
	readonly earlyHeadersMs: number;
}

/** A stream is ended past this share of the ceiling (docs/money.md). */
const CEILING_SLACK = 1.1;
/** Minimum distance between two counts of one output, as a share of the ceiling. */
const COUNTING_STEP = 0.05;

/**
 * Answers as server-sent events. Until the first event, or a time limit, a failure is still a normal error. After it
 * the stream ends with the events of a proper end, or with an error event instead.
 */
export async function answerStreamed(
	chat: AdmittedChat,
	upstreams: ChatUpstreams,
	settlement: Settlement,
	times: StreamTimes,
	form: AnswerForm,
): Promise<MeteredAnswer> {
	const { forward, format } = chat;
	const stream =
		format === null
			? upstreams.stream(forward)
			: new FormattedStream(
					(signal) => askInFormat(chat, format, { ...forward, stream: false, signal }, upstreams),
					forward.signal,
				);
	const run = new StreamRun(chat, stream, settlement, times, form.stream(chat));
	const early = await run.begin();
	if (early === "left") return CLIENT_LEFT_ANSWER;
	if (stream.retries > 0) chat.call.headers["x-retry-count"] = String(stream.retries);
	if (stream.upstream !== null) chat.call.headers["x-service-model-router"] = stream.upstream;
	return {
		status: 200,
		type: "text/event-stream",
		body: run.readable(),
		headers: { "Cache-Control": "no-cache" },
		ended: run.ended,
	};
}

class StreamRun {
	readonly #chat: AdmittedChat;
	readonly #stream: ChatStream;
	readonly #settlement: Settlement;
	readonly #times: StreamTimes;
	readonly #output: ReceivedOutput;
	readonly #form: StreamForm;
	readonly #thinking: ThinkingStream | null;
	/** The stream is ended past this number of output tokens of all choices. */
	readonly #ceiling: number;
	/** Tokens are counted when the cheap estimate of the output exceeds this. */
	#countPast: number;
	/** True if the stream was ended at its ceiling. */
	#isCut = false;
	#usage: Record<string, unknown> | null = null;
	#started = false;
	#lastWriteMs = 0;
	/** Wakes a write that waits for a caller who has left. */
	#onLeft: () => void = () => {};
	readonly ended: Promise<void>;
	#end: () => void = () => {};

	constructor(chat: AdmittedChat, stream: ChatStream, settlement: Settlement, times: StreamTimes, form: StreamForm) {
		this.#chat = chat;
		this.#stream = stream;
		this.#settlement = settlement;
		this.#times = times;
		this.#form = form;
		this.#output = new ReceivedOutput({ isSealed: chat.forward.sealed !== undefined });
		this.#thinking = chat.thinking === null || chat.format !== null ? null : new ThinkingStream(chat.thinking);
		this.#ceiling = chat.maxTokens === null ? Number.POSITIVE_INFINITY : chat.maxTokens * chat.choices * CEILING_SLACK;
		this.#countPast = this.#ceiling;
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
	}

	/** Waits for the first event, or until the 200 must go out. Throws the failure that a normal error answer reports. */
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
			// The stream also ends when the caller leaves.
			await Promise.race([this.#stream.opened, commit]);
		} catch (error) {
			failure = error;
		} finally {
			clearTimeout(timer);
		}
		if (failure === undefined && !this.#chat.call.signal.aborted) return "go";
		this.#stream.cancel();
		if (this.#chat.call.signal.aborted && (await this.#postLeft())) return "left";
		if (failure !== undefined) await this.#chat.meter.postBefore(asApiError(failure).status)?.durable;
		throw failure ?? new ApiError("UNKNOWN_ERROR", { message: "The caller left before the request was sent on" });
	}

	/** Returns the body. If nobody ever reads it, the request still settles when the caller leaves. */
	readable(): ReadableStream {
		const { signal } = this.#chat.call;
		const onCallerLeft = () => {
			this.#onLeft();
			if (!this.#started) void this.#abandon();
		};
		if (signal.aborted) onCallerLeft();
		else signal.addEventListener("abort", onCallerLeft, { once: true });
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
				// The caller has left, so the sink is closed already.
			}
			this.#end();
		}
	}

	async #relay(sink: DirectSink): Promise<void> {
		await this.#stream.each(({ events }) => this.#pass(sink, events));
		if (this.#isCut) await this.#write(sink, this.#form.cut());
		await this.#finish(sink);
	}

	/**
	 * Writes the content of events, up to the one that passes the ceiling. Returns a promise where there is something to
	 * wait for.
	 */
	#pass(sink: DirectSink, events: readonly ChatEvent[]): Promise<unknown> | null {
		let text = "";
		let index = 0;
		for (const event of events) {
			if (this.#receive(event)) {
				if (this.#output.estimatedTokens > this.#countPast) return this.#passCounted(sink, text, events.slice(index));
				text += this.#textOf(event);
			}
			index++;
		}
		return text === "" ? null : this.#write(sink, text);
	}

	/**
	 * Counts the output, because the cheap estimate says that the first of these events passes the ceiling. The estimate
	 * is too high for servers that send a character a chunk, and for long runs of one character.
	 */
	async #passCounted(sink: DirectSink, precedingText: string, events: readonly ChatEvent[]): Promise<void> {
		if (precedingText !== "") await this.#write(sink, precedingText);
		const tokens = await this.#chat.meter.answerTokens(this.#output);
		if (tokens > this.#ceiling) {
			this.#isCut = true;
			this.#stream.cancel();
			return;
		}
		this.#countPast = this.#output.estimatedTokens + Math.max(this.#ceiling - tokens, this.#ceiling * COUNTING_STEP);
		const [first, ...rest] = events;
		const text = first === undefined ? "" : this.#textOf(first);
		if (text !== "") await this.#write(sink, text);
		await this.#pass(sink, rest);
	}

	#textOf(event: ChatEvent): string {
		return this.#form.event(this.#thinking === null ? event : this.#thinking.event(event));
	}

	/** Adds an event to the output; returns false if it has nothing for the caller. */
	#receive(event: ChatEvent): boolean {
		if (event.frame !== null) this.#output.addPiece(event.piece);
		else {
			const { choices, usage, id } = event.body;
			this.#chat.receipt?.setIds(completionId(id, this.#chat.call.requestId), id);
			if (typeof usage === "object" && usage !== null) {
				this.#usage = usage as Record<string, unknown>;
				if (Array.isArray(choices) && choices.length === 0) return false;
			}
			this.#output.add(choices);
		}
		return true;
	}

	/** The usage that the upstream reported, under whatever name. */
	get #reportedUsage(): TokenUsage | null {
		return (this.#usage === null ? null : tokenUsageOf(this.#usage)) ?? this.#stream.usage;
	}

	/** Ends a complete stream: posts, and only then writes the last events. */
	async #finish(sink: DirectSink): Promise<void> {
		const { meter } = this.#chat;
		meter.usage = this.#reportedUsage;
		const posted = await meter.post(this.#output, 200, this.#isCut ? { partial: true, atMost: this.#ceiling } : {});
		if (posted === null || meter.usage === null) return;
		await posted.durable;
		const reported = meter.usage.counted || meter.isSum || this.#isCut ? null : (this.#usage ?? {});
		const write = this.#write(sink, this.#form.end({ posted, usage: meter.usage }, reported));
		this.#chat.receipt?.end(this.#stream.upstream);
		await write;
	}

	/** Ends a stream that failed: the caller left, or the upstream failed. */
	async #broken(sink: DirectSink, thrown: unknown): Promise<void> {
		if (this.#chat.call.signal.aborted) {
			await this.#postLeft();
			return;
		}
		const error = asApiError(thrown);
		this.#stream.cancel();
		if (!this.#output.isEmpty) {
			const { meter } = this.#chat;
			meter.usage = this.#reportedUsage;
			const posted = await meter.post(this.#output, error.status, { partial: true });
			await posted?.durable;
		} else await this.#chat.meter.postBefore(error.status)?.durable;
		await this.#write(sink, this.#form.failed(error));
	}

	/** Stops the upstream where nobody will read the answer, and posts what was done. */
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

	/**
	 * Posts the prompt and the output received so far, if the request was sent to an upstream. Returns false if it was
	 * not.
	 */
	async #postLeft(): Promise<boolean> {
		const { meter } = this.#chat;
		this.#stream.cancel();
		if (meter.sentTo === null) return false;
		meter.usage = this.#reportedUsage;
		const posted = await meter.post(this.#output, CLIENT_LEFT, { partial: true });
		await posted?.durable;
		return posted !== null;
	}

	/**
	 * Writes at once. Where the caller reads too slowly it returns a promise that resolves when the caller has caught up
	 * or left.
	 */
	#write(sink: DirectSink, text: string): Promise<unknown> | null {
		if (this.#chat.call.signal.aborted) throw new ApiError("UNKNOWN_ERROR", { message: "The caller has left" });
		const write = sink.write(text);
		sink.flush();
		this.#chat.receipt?.wrote(text);
		this.#lastWriteMs = performance.now();
		if (typeof write === "number") return null;
		const callerLeft = new Promise<void>((resolve) => {
			this.#onLeft = resolve;
		});
		return Promise.race([write, callerLeft]);
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
