/** The HTTP layer's interface to the pipeline for a request's connection. */
export interface Connection {
	address(): string;
	/** Keeps a silent connection open during long work, until the time-out is resumed. */
	suspendIdleTimeout(): void;
	resumeIdleTimeout(): void;
	/**
	 * sha256 of the key whose signed-in session sent the request. It takes precedence over credentials in the headers.
	 */
	readonly sessionKeyHash?: string;
}
