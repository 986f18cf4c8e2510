/** The runtime's own stream for answers. It writes bytes and texts at once, without a queue between. */
export interface DirectSink {
	/** Returns a promise where the reader is too slow; it resolves when the reader has caught up. */
	write(piece: string | Uint8Array): number | Promise<number>;
	flush(): unknown;
	/** Ends the answer. An error resets the connection, so that a part is not taken for the whole. */
	close(error?: Error): void;
}

/**
 * Returns an answer's body that `pull` writes. `pull` is called when the body is first read, and never where nobody
 * reads it.
 */
export function directStream(pull: (sink: DirectSink) => Promise<void>): ReadableStream {
	return new ReadableStream({ type: "direct", pull: (sink) => pull(sink as unknown as DirectSink) });
}
