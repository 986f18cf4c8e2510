import { type DirectSink, directStream } from "./direct-stream.ts";

/** Of what has come, so much waits for what comes next, or for the post. */
const HELD_BYTES = 64;

export interface PostedStreamOptions {
	/** The pieces in order. Its `return` is called where the rest is not wanted. */
	readonly pieces: AsyncIterator<Uint8Array>;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** All pieces have come: posts the charge; resolves when it is durable. */
	finish(): Promise<void>;
	/** The caller left before the end. */
	left(): Promise<void>;
	/** What gave the pieces broke: nothing is charged. */
	broke(error: unknown): void;
}

/**
 * A body whose pieces go out as they come, no faster than the caller reads, and whose last bytes wait for the post.
 * Where the source breaks the connection is reset, so that nobody takes the part for the whole.
 */
export class PostedStream {
	readonly #of: PostedStreamOptions;
	/** Resolves when the answer has ended and settled, whichever way. */
	readonly ended: Promise<void>;
	#end: () => void = () => {};
	#started = false;
	/** Wakes a write that waits for a caller that has left. */
	#onLeft: () => void = () => {};

	constructor(of: PostedStreamOptions) {
		this.#of = of;
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
		const { pieces, signal } = this.#of;
		let fault: Error | undefined;
		try {
			if (sink !== null) await this.#relay(sink);
		} catch (error) {
			fault = error instanceof Error ? error : new Error(String(error));
			if (!signal.aborted) this.#of.broke(error);
		} finally {
			if (signal.aborted || sink === null) await this.#of.left().catch(() => {});
			await pieces.return?.()?.catch(() => {});
			try {
				sink?.close(fault);
			} catch {
				// The caller has left: there is nobody to close towards.
			}
			this.#end();
		}
	}

	async #relay(sink: DirectSink): Promise<void> {
		let held: Uint8Array | undefined;
		for (let next = await this.#next(); !next.done; next = await this.#next()) {
			if (held !== undefined) await this.#write(sink, held);
			const piece = next.value;
			const end = piece.length - Math.min(HELD_BYTES, Math.ceil(piece.length / 2));
			if (end > 0) await this.#write(sink, piece.subarray(0, end));
			held = piece.subarray(end);
		}
		await this.#of.finish();
		if (held !== undefined) await this.#write(sink, held);
	}

	/** The next piece; a caller that leaves while it is awaited is no longer waited for. */
	async #next(): Promise<IteratorResult<Uint8Array>> {
		this.#of.signal.throwIfAborted();
		const next = this.#of.pieces.next();
		const result = await Promise.race([next, this.#leaving()]);
		if (result === null) {
			next.catch(() => {});
			throw this.#of.signal.reason;
		}
		return result;
	}

	async #write(sink: DirectSink, bytes: Uint8Array): Promise<void> {
		this.#of.signal.throwIfAborted();
		const written = sink.write(bytes);
		// Never waited for: that is no measure of how fast the caller reads.
		sink.flush();
		if (typeof written !== "number") await Promise.race([written, this.#leaving()]);
	}

	#leaving(): Promise<null> {
		return new Promise((resolve) => {
			this.#onLeft = () => resolve(null);
		});
	}
}
