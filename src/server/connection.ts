/** The connection's side of a request, from the HTTP layer. */
export interface Connection {
	address(): string;
	/** Nothing ends the silent connection (during long work), until the time-out is resumed. */
	suspendIdleTimeout(): void;
	resumeIdleTimeout(): void;
	/** sha256 of the key whose signed-in session sent the request: it takes the place of any credential in the headers. */
	readonly sessionKeyHash?: string;
}
