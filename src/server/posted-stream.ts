import { type DirectSink, directStream } from "./direct-stream.ts";

/** The last bytes received are held back until more bytes arrive, or until the post is durable. */
const HELD_BYTES = 64;

export interface PostedStreamOptions {
	/** The pieces in order. `return` is called where the rest is not needed. */
	readonly pieces: AsyncIterator<Uint8Array>;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Called when all pieces have arrived: posts the charge; resolves when it is durable. */
	onSourceEnd(): Promise<void>;
	/** Called if the caller left before the end. */
	onCallerLeft(): Promise<void>;
	/** Called if the source of the pieces failed: nothing is charged. */
	onSourceFailed(error: unknown): void;
}

/**
 * A body that is sent as its pieces arrive, no faster than the caller reads. Its last bytes wait for the post. If the
 * source fails the connection is reset, so that a part is not taken for the whole.
 */
export class PostedStream {
	readonly #options: PostedStreamOptions;
	/** Resolves when the answer has ended and settled in any way. */
	readonly ended: Promise<void>;
	#end: () => void = () => {};
	#started = false;
	/** Wakes a write that waits for a caller who has left. */
	#onLeft: () => void = () => {};

	constructor(options: PostedStreamOptions) {
		this.#options = options;
		this.ended = new Promise((resolve) => {
			this.#end = resolve;
		});
	}

	/** Returns the body. If nobody ever reads it, the request still settles when the caller leaves. */
	readable(): ReadableStream {
		const { signal } = this.#options;
		const onCallerLeft = () => {
			this.#onLeft();
			if (!this.#started) void this.#run(null);
		};
		if (signal.aborted) onCallerLeft();
		else signal.addEventListener("abort", onCallerLeft, { once: true });
		return directStream((sink) => this.#run(sink));
	}

	async #run(sink: DirectSink | null): Promise<void> {
		if (this.#started) return;
		this.#started = true;
		const { pieces, signal } = this.#options;
		let fault: Error | undefined;
		try {
			if (sink !== null) await this.#relay(sink);
		} catch (error) {
			fault = error instanceof Error ? error : new Error(String(error));
			if (!signal.aborted) this.#options.onSourceFailed(error);
		} finally {
			if (signal.aborted || sink === null) await this.#options.onCallerLeft().catch(() => {});
			await pieces.return?.()?.catch(() => {});
			try {
				sink?.close(fault);
			} catch {
				// The caller has left, so the sink is closed already.
			}
			this.#end();
		}
	}

	async #relay(sink: DirectSink): Promise<void> {
		let tail: Uint8Array | undefined;
		for (let result = await this.#next(); !result.done; result = await this.#next()) {
			if (tail !== undefined) await this.#write(sink, tail);
			const piece = result.value;
			const end = piece.length - Math.min(HELD_BYTES, Math.ceil(piece.length / 2));
			if (end > 0) await this.#write(sink, piece.subarray(0, end));
			// The piece is copied, since the source may free it when the next one is requested. A slice of a Buffer is no
			// copy.
			tail = new Uint8Array(piece.subarray(end));
		}
		await this.#options.onSourceEnd();
		if (tail !== undefined) await this.#write(sink, tail);
	}

	/** Returns the next piece. Throws if the caller leaves while the piece is awaited. */
	async #next(): Promise<IteratorResult<Uint8Array>> {
		this.#options.signal.throwIfAborted();
		const pending = this.#options.pieces.next();
		const result = await Promise.race([pending, this.#leaving()]);
		if (result === null) {
			pending.catch(() => {});
			throw this.#options.signal.reason;
		}
		return result;
	}

	async #write(sink: DirectSink, bytes: Uint8Array): Promise<void> {
		this.#options.signal.throwIfAborted();
		const write = sink.write(bytes);
		// The flush is not awaited: it does not measure how fast the caller reads.
		sink.flush();
		if (typeof write !== "number") await Promise.race([write, this.#leaving()]);
	}

	#leaving(): Promise<null> {
		return new Promise((resolve) => {
			this.#onLeft = () => resolve(null);
		});
	}
}
