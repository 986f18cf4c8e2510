import type { IdempotencyTicket, PreparedAnswer } from "../../budgets/port.ts";
import { type DirectSink, directStream } from "../../server/direct-stream.ts";
import type { RpcStream } from "../../upstreams/rpc/port.ts";
import { freeBytes } from "../../wire/index.ts";
import { streamFrame } from "./answers.ts";
import type { RequestBody } from "./request-body.ts";

/** Larger answers are not kept under an idempotency key. */
const MAX_KEPT_BYTES = 8 << 20;

export interface StreamedAnswerDeps {
	readonly envelope: RequestBody;
	readonly stream: RpcStream;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	readonly ticket: IdempotencyTicket | null;
	/** Posts the charge; resolves when it is durable. */
	post(kept: PreparedAnswer | null): Promise<void>;
	/** Ends what is still open of the request: called once, last. */
	end(): void;
}

/**
 * A big answer on its way through: the upstream's bytes go out as they come, no faster than the caller reads, and the
 * last byte waits for the post. Where the upstream breaks off the connection is reset, so that nobody takes the part
 * for the whole, and nothing is charged. A caller that leaves pays: the answer had begun.
 */
export class StreamedAnswer {
	readonly #of: StreamedAnswerDeps;
	/** Resolves when the answer has ended, whichever way. */
	readonly ended: Promise<void>;
	#end: () => void = () => {};
	#started = false;
	#posted = false;
	/** What is to be kept; null where it has become too much, or nobody asked. */
	#kept: Uint8Array[] | null;
	#keptBytes = 0;
	/** Wakes a write that waits for a caller that has left. */
	#onLeft: () => void = () => {};

	constructor(of: StreamedAnswerDeps) {
		this.#of = of;
		this.#kept = of.ticket === null ? null : [];
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
	}

	/** The body. Where nobody ever reads it, the caller's leaving still settles. */
	readable(): ReadableStream {
		const { signal } = this.#of;
		const left = () => {
			this.#onLeft();
			if (!this.#started) void this.#run(null);
		};
		if (signal.aborted) left();
		else signal.addEventListener("abort", left, { once: true });
		return directStream((sink) => this.#run(sink));
	}

	async #run(sink: DirectSink | null): Promise<void> {
		if (this.#started) return;
		this.#started = true;
		const { stream, end } = this.#of;
		let fault: Error | undefined;
		try {
			if (sink !== null) await this.#relay(sink);
		} catch (error) {
			fault = error instanceof Error ? error : new Error(String(error));
		} finally {
			stream.cancel();
			await this.#postLeft();
			end();
			try {
				sink?.close(fault);
			} catch {
				// The caller has left: there is nobody to close towards.
			}
			this.#end();
		}
	}

	async #relay(sink: DirectSink): Promise<void> {
		const { envelope, stream, post } = this.#of;
		const frame = streamFrame(envelope, stream.kind);
		await this.#write(sink, frame.head);
		const reader = stream.value.getReader();
		for (let read = await reader.read(); !read.done; read = await reader.read()) {
			await this.#write(sink, read.value);
			// What was written is copied; what a caller who left did not take may still be looked at.
			if (!this.#of.signal.aborted) freeBytes(read.value);
		}
		const kept = await this.#prepared(frame.tail);
		this.#posted = true;
		await post(kept);
		await this.#write(sink, frame.tail);
	}

	/** The whole answer, ready to be kept with its post. */
	async #prepared(tail: Uint8Array): Promise<PreparedAnswer | null> {
		const { ticket } = this.#of;
		if (ticket === null || this.#kept === null) return null;
		return ticket.prepare({ status: 200, body: Buffer.concat([...this.#kept, tail]), note: "" });
	}

	/** A promise where the caller reads too slowly, until it has caught up or left. */
	async #write(sink: DirectSink, bytes: Uint8Array): Promise<void> {
		this.#of.signal.throwIfAborted();
		this.#keep(bytes);
		const written = sink.write(bytes);
		if (typeof written === "number") return;
		const left = new Promise<void>((resolve) => {
			this.#onLeft = resolve;
		});
		await Promise.race([written, left]);
	}

	#keep(bytes: Uint8Array): void {
		if (this.#kept === null) return;
		this.#keptBytes += bytes.length;
		if (this.#keptBytes > MAX_KEPT_BYTES) this.#kept = null;
		else this.#kept.push(bytes.slice());
	}

	/** Where the caller left before the end: the charge, unless it was posted. */
	async #postLeft(): Promise<void> {
		if (this.#of.signal.aborted && !this.#posted) await this.#of.post(null);
	}
}
