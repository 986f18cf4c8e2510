/**
 * Traces as the modules use them. The tracer is loaded only if `traces.url` is set. Attributes never contain prompts, answers,
 * keys, signatures or addresses.
 */
export interface Span {
	set(name: string, value: string | number | boolean): void;
	/** Records something that happened during the span. */
	event(name: string): void;
	/** Marks the span as failed: `code` is of the error table, or a kind of failure. */
	fail(code: string): void;
	/** Ends the span. Safe to call twice. */
	end(): void;
	/** The header that names this span as the parent in a request to another server (W3C Trace Context). */
	readonly traceparent: string;
}

/** The trace of one request: a root, consecutive steps below it, and calls below the steps. */
export interface RequestTrace {
	readonly root: Span;
	/** Ends the current step and starts this one. */
	step(name: string): void;
	/** Starts a span below the current step. */
	span(name: string, kind?: "internal" | "client"): Span;
	/** Ends all open spans and exports the trace. */
	end(): void;
}

export interface Tracer {
	/** Starts a trace; null if the request is not sampled. `traceparent`: the header of the request. */
	begin(requestId: string, name: string, traceparent: string | null): RequestTrace | null;
	/** Returns the trace of a running request; null if it has none. */
	of(requestId: string): RequestTrace | null;
	/** Returns true if requests to this upstream carry their span (`traces.passTo`). */
	passesTo(upstream: string): boolean;
	/** Exports the remaining spans. */
	close(): Promise<void>;
}
