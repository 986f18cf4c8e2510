/**
 * Traces as the rooms see them. What writes them is loaded only where `traces.url` is set. Never an attribute: prompts,
 * answers, keys, signatures, addresses.
 */
export interface Span {
	set(name: string, value: string | number | boolean): void;
	/** Something that happened in the middle of it. */
	event(name: string): void;
	/** It failed: `code` of the error table, or a kind of failure. */
	fail(code: string): void;
	/** Safe to call twice. */
	end(): void;
	/** Names this span as the parent in a request to another server (W3C Trace Context). */
	readonly traceparent: string;
}

/** The trace of one request: a root, steps one after the other below it, and calls below the steps. */
export interface RequestTrace {
	readonly root: Span;
	/** Ends the step before and begins this one. */
	step(name: string): void;
	/** A span below the step that is under way. */
	span(name: string, kind?: "internal" | "client"): Span;
	/** Ends what is still open and hands all to the exporter. */
	end(): void;
}

export interface Tracer {
	/** null where the request is not sampled. `traceparent`: the header of the request. */
	begin(requestId: string, name: string, traceparent: string | null): RequestTrace | null;
	/** The trace of a request that is under way; null where it has none. */
	of(requestId: string): RequestTrace | null;
	/** True where the operator wants requests to this upstream to name their span (`traces.passTo`). */
	passesTo(upstream: string): boolean;
	/** Sends what is left. */
	close(): Promise<void>;
}
