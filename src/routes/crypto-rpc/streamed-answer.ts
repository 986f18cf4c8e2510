import type { IdempotencyTicket, PreparedAnswer } from "../../budgets/port.ts";
import { type DirectSink, directStream } from "../../server/direct-stream.ts";
import type { RpcStream } from "../../upstreams/rpc/port.ts";
import { freeBytes } from "../../wire/index.ts";
import { streamFrame } from "./answers.ts";
import type { RequestBody } from "./request-body.ts";

/** Larger answers are not stored under an idempotency key. */
const MAX_KEPT_BYTES = 8 << 20;

export interface StreamedAnswerDeps {
	readonly envelope: RequestBody;
	readonly stream: RpcStream;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	readonly ticket: IdempotencyTicket | null;
	/** Posts the charge; resolves when it is durable. */
	post(kept: PreparedAnswer | null): Promise<void>;
	/** Ends the rest of the request: called once, last. */
	end(): void;
}

/**
 * Streams a large answer: the upstream's bytes go out as they arrive, no faster than the caller reads, and the last
 * byte waits for the post. Where the upstream breaks off, the connection is reset, so that nobody takes the part for
 * the whole, and nothing is charged. A caller that leaves pays, since the answer had begun.
 */
export class StreamedAnswer {
	readonly #of: StreamedAnswerDeps;
	/** Resolves when the answer has ended in any way. */
	readonly ended: Promise<void>;
	#end: () => void = () => {};
	#started = false;
	#posted = false;
	/** The bytes to store; null where they are too many, or need not be stored. */
	#kept: Uint8Array[] | null;
	#keptBytes = 0;
	/** Wakes a write that waits for a caller who has left. */
	#onLeft: () => void = () => {};

	constructor(of: StreamedAnswerDeps) {
		this.#of = of;
		this.#kept = of.ticket === null ? null : [];
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
	}

	/** Returns the body. Where nobody ever reads it, the request still settles when the caller leaves. */
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
				// The caller has left, so the sink is closed already.
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
			// Written bytes are copied; unread bytes of a caller who left may still be in use.
			if (!this.#of.signal.aborted) freeBytes(read.value);
		}
		const kept = await this.#prepared(frame.tail);
		this.#posted = true;
		await post(kept);
		await this.#write(sink, frame.tail);
	}

	/** Returns the whole answer, prepared for storing with its post. */
	async #prepared(tail: Uint8Array): Promise<PreparedAnswer | null> {
		const { ticket } = this.#of;
		if (ticket === null || this.#kept === null) return null;
		return ticket.prepare({ status: 200, body: Buffer.concat([...this.#kept, tail]), note: "" });
	}

	/** Writes bytes, and waits for a slow caller until it has caught up or left. */
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

	/** Posts the charge where the caller left before the end, unless it was posted. */
	async #postLeft(): Promise<void> {
		if (this.#of.signal.aborted && !this.#posted) await this.#of.post(null);
	}
}
