/** The runtime's own stream for answers: bytes and texts are written as they come, without a queue between. */
export interface DirectSink {
	/** A promise where the reader is too slow: it resolves when it has caught up. */
	write(piece: string | Uint8Array): number | Promise<number>;
	flush(): unknown;
	/** Ends the answer; with an error the connection is reset, so that a part is not taken for the whole. */
	close(error?: Error): void;
}

/** An answer's body that `pull` writes. It is called when the body is first read, and never where nobody reads it. */
export function directStream(pull: (sink: DirectSink) => Promise<void>): ReadableStream {
	return new ReadableStream({ type: "direct", pull: (sink) => pull(sink as unknown as DirectSink) });
}
