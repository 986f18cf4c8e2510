import type { ModelTarget } from "../catalog/types.ts";
import { ApiError } from "../errors/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { TimerClock } from "../telemetry/timer-clock.ts";
import type { Span, Tracer } from "../telemetry/tracing/port.ts";
import { AttemptTimeout } from "./attempt-timeout.ts";
import type { CallCounts, CountsByUpstream } from "./call-counts.ts";
import { asFailure, failureOf, isGood, isRefused } from "./connect.ts";
import {
	failureOfOwnError,
	mostInformative,
	type UpstreamFailure,
	unlessQuoted,
	upstreamAtCapacity,
	upstreamTimedOut,
	withoutSecrets,
} from "./failures.ts";
import type { Fetch } from "./fetch.ts";
import type { Candidate, Pool } from "./pool.ts";
import type { PublicFetch } from "./public-fetch/port.ts";
import type { Endpoint, UpstreamServer } from "./upstream-server.ts";

/** Time limits in milliseconds (`timeouts` of the config). */
export interface ChatTimeouts {
	readonly chatFirstByteMs: number;
	readonly chatIdleMs: number;
	readonly chatUnaryMs: number;
	readonly chatStreamTriesMs: number;
}

/** A call as its attempts see it: which upstreams may take it, and how it is sent. */
export interface AttemptCall {
	readonly requestId: string;
	readonly targets: readonly ModelTarget[];
	/** The tenant in whose share of an upstream's places the call counts. */
	readonly tenant: string;
	/** Aborts when the caller leaves or the deadline passes. */
	readonly signal: AbortSignal;
	/** The caller's body: a refusal that quotes it is about the request, whatever its words. */
	readonly raw: Uint8Array;
	/** The same key finds the same upstream; undefined: any. */
	stickyKey(): string | undefined;
	/** Called before each attempt's bytes go out. From then on a caller that leaves is charged. */
	onSent(upstream: string): void;
	/** Sends the call to one upstream, in its dialect. Resolves at the headers of the answer, whatever they are. */
	send(candidate: Candidate, endpoint: Endpoint, signal: AbortSignal): Promise<Response>;
}

/** The dependencies of the attempts of any call. */
export interface AttemptDeps {
	readonly pool: Pool;
	readonly fetch: Fetch;
	readonly clock: TimerClock;
	readonly log: Log;
	/** Counts outcomes of calls by upstream; left out: nothing is counted. */
	readonly counts?: CountsByUpstream | undefined;
	/** Writes traces; null: nothing does. */
	readonly tracer?: (() => Tracer | null) | undefined;
}

/** The dependencies of the attempts of a chat call. */
export interface ChatAttemptDeps extends AttemptDeps {
	readonly timeouts: ChatTimeouts;
	readonly maxAnswerBytes: number;
	readonly maxEventBytes: number;
	/** Reads addresses that callers name, for upstreams that read none. */
	readonly fetchPublic?: (() => PublicFetch) | undefined;
}

/** One attempt at one upstream: its place in the pool, its time, its health report. Ended exactly once. */
export class Attempt {
	readonly server: UpstreamServer;
	readonly timeout: AttemptTimeout;
	readonly #pool: Pool;
	readonly #giveBack: () => void;
	readonly #counts: CallCounts | undefined;
	readonly #startedAt = performance.now();
	#span: Span | null = null;
	#ended = false;

	constructor(server: UpstreamServer, timeout: AttemptTimeout, pool: Pool, giveBack: () => void, counts?: CallCounts) {
		this.#counts = counts;
		this.server = server;
		this.timeout = timeout;
		this.#pool = pool;
		this.#giveBack = giveBack;
	}

	/** Sets the attempt's span, which ends with it. */
	setSpan(span: Span): void {
		this.#span = span;
	}

	/** Called when the answer's headers have arrived. */
	onHeaders(status: number): void {
		this.#counts?.headSeconds.add((performance.now() - this.#startedAt) / 1_000);
		this.#span?.set("http.response.status_code", status);
		this.#span?.event("first byte");
	}

	/**
	 * Frees what the attempt holds.
	 * @param report how the upstream did; null if that is unknown (the caller left)
	 */
	end(report: "good" | UpstreamFailure | null): void {
		if (this.#ended) return;
		this.#ended = true;
		this.timeout.close();
		this.#giveBack();
		const outcome = report === "good" ? "good" : (report?.kind ?? "left");
		this.#counts?.ended(outcome, performance.now() - this.#startedAt);
		if (outcome !== "good") this.#span?.fail(outcome);
		this.#span?.end();
		if (report === "good") this.#pool.reportSuccess(this.server);
		else if (report) this.#pool.reportFailure(this.server, report);
	}
}

/** The attempts of one call, over the candidates of its model in the pool's order. */
export class Attempts {
	readonly #call: AttemptCall;
	readonly #deps: AttemptDeps;
	readonly #failures: UpstreamFailure[] = [];
	#current: Attempt | null = null;
	#sent = 0;
	#upstream: string | null = null;
	#key: string | undefined;
	#stopped: ApiError | null = null;

	constructor(call: AttemptCall, deps: AttemptDeps) {
		this.#call = call;
		this.#deps = deps;
	}

	/** Number of attempts before the current one. */
	get retries(): number {
		return Math.max(0, this.#sent - 1);
	}

	/** The last upstream that was sent the request. */
	get upstream(): string | null {
		return this.#upstream;
	}

	/** Ends the current attempt; no other is made. */
	stop(reason: ApiError): void {
		this.#stopped ??= reason;
		this.#current?.timeout.abort(reason);
	}

	/**
	 * Runs `attempt` on one candidate after another until one succeeds.
	 * @throws ApiError by the failure table once all have failed or one has failed for good; the reason of the call's
	 * signal or of `stop`
	 */
	async run<T>(
		attempt: (response: Response, current: Attempt) => Promise<T>,
		limit: (timeout: AttemptTimeout, server: UpstreamServer) => void,
	): Promise<T> {
		const { pool } = this.#deps;
		const { targets, tenant, signal } = this.#call;
		let full: Candidate | undefined;
		for (const candidate of pool.candidates(targets, this.#call.stickyKey())) {
			this.throwIfStopped();
			const giveBack = pool.take(candidate.server, tenant);
			if (giveBack === null) {
				full ??= candidate;
				continue;
			}
			const done = await this.#attempt(candidate, giveBack, attempt, limit);
			if (done === "late") break;
			if (done !== "failed") return done.value;
		}
		if (full !== undefined) {
			// All candidates are full: the call waits for a place at its first choice.
			const giveBack = await pool.wait(full.server, { tenant, signal });
			if (this.#stopped !== null) giveBack?.();
			this.throwIfStopped();
			if (giveBack === null) this.#failures.push(upstreamAtCapacity(`${full.server.name} runs as many calls as it may`));
			const done = giveBack === null ? "failed" : await this.#attempt(full, giveBack, attempt, limit);
			if (typeof done === "object") return done.value;
		}
		throw mostInformative(this.#failures).answer;
	}

	/** Makes one attempt at an upstream that has a place for it. Throws if no other may be tried. */
	async #attempt<T>(
		candidate: Candidate,
		giveBack: () => void,
		attempt: (response: Response, current: Attempt) => Promise<T>,
		limit: (timeout: AttemptTimeout, server: UpstreamServer) => void,
	): Promise<{ readonly value: T } | "failed" | "late"> {
		const { pool, clock, counts } = this.#deps;
		const { server } = candidate;
		const timeout = new AttemptTimeout(this.#call.signal, clock);
		limit(timeout, server);
		if (timeout.isOver && this.#failures.length > 0) {
			// The time of all attempts is over: one more would only be blamed for it.
			timeout.close();
			giveBack();
			return "late";
		}
		const current = new Attempt(server, timeout, pool, giveBack, counts?.of(server.name));
		this.#current = current;
		try {
			const endpoint = server.endpoint();
			const response = await (endpoint instanceof Promise
				? this.#sendToMoving(candidate, endpoint, current)
				: this.#send(candidate, endpoint, current));
			timeout.onBytes();
			current.onHeaders(response.status);
			if (!isGood(response)) throw await failureOf(response, server, this.#key);
			return { value: await attempt(response, current) };
		} catch (error) {
			this.#failed(current, error);
			return "failed";
		}
	}

	/** Throws the reason to stop: the caller left, or `stop` was called. */
	throwIfStopped(): void {
		if (this.#call.signal.aborted) throw this.#call.signal.reason;
		if (this.#stopped !== null) throw this.#stopped;
	}

	/** Ends the attempt; throws if no other upstream may be tried. */
	#failed(current: Attempt, error: unknown): void {
		const { signal, requestId } = this.#call;
		if (signal.aborted || this.#stopped !== null) {
			const reason: unknown = signal.aborted ? signal.reason : this.#stopped;
			current.timeout.abort(reason);
			current.end(null);
			throw reason;
		}
		const failure =
			error instanceof ApiError
				? failureOfOwnError(error)
				: unlessQuoted(withoutSecrets(asFailure(error, current.timeout), current.server.mask), this.#call.raw);
		current.timeout.abort(failure);
		current.end(failure);
		logFailure(this.#deps.log, requestId, current.server.name, failure);
		this.#failures.push(failure);
		if (failure.final) throw failure.answer;
	}

	#send(candidate: Candidate, endpoint: Endpoint, current: Attempt): Promise<Response> {
		this.#sent++;
		if (this.#sent > 1) {
			const { counts } = this.#deps;
			if (counts !== undefined) counts.of(candidate.server.name).retries++;
		}
		const traced = this.#withTrace(candidate, endpoint, current);
		this.#upstream = candidate.server.name;
		this.#key = endpoint.key;
		this.#call.onSent(candidate.server.name);
		return this.#call.send(candidate, traced, current.timeout.signal);
	}

	/** Returns the endpoint, with this attempt's span in its headers where the operator enables that. */
	#withTrace(candidate: Candidate, endpoint: Endpoint, current: Attempt): Endpoint {
		const tracer = this.#deps.tracer?.() ?? null;
		const trace = tracer?.of(this.#call.requestId) ?? null;
		if (tracer === null || trace === null) return endpoint;
		const { server } = candidate;
		const span = trace.span(`upstream ${server.name}`, "client");
		span.set("turnpike.upstream", server.name);
		span.set("turnpike.attempt", this.#sent);
		current.setSpan(span);
		if (!tracer.passesTo(server.name)) return endpoint;
		const { traceparent } = span;
		const { probeHeaders, unaryHeaders, streamHeaders } = endpoint;
		return {
			...endpoint,
			probeHeaders: { ...probeHeaders, traceparent },
			unaryHeaders: { ...unaryHeaders, traceparent },
			streamHeaders: { ...streamHeaders, traceparent },
		};
	}

	/**
	 * Sends to an engine whose address changes when it restarts. One that has just ended may leave its address behind for
	 * a moment: where nobody listens there, the address is requested once more.
	 */
	async #sendToMoving(candidate: Candidate, first: Promise<Endpoint>, current: Attempt): Promise<Response> {
		const { timeout } = current;
		const send = async (endpoint: Endpoint | Promise<Endpoint>) => {
			const reached = await reachable(endpoint, timeout.signal);
			timeout.signal.throwIfAborted();
			return this.#send(candidate, reached, current);
		};
		try {
			return await send(first);
		} catch (error) {
			if (!isRefused(error) || timeout.signal.aborted) throw error;
			this.#sent--;
			return send(candidate.server.endpoint());
		}
	}
}

/** Waits for the address no longer than the attempt may take: the embedded engine starts at first use. */
async function reachable(endpoint: Endpoint | Promise<Endpoint>, signal: AbortSignal): Promise<Endpoint> {
	if (!(endpoint instanceof Promise)) return endpoint;
	const aborted = Promise.withResolvers<never>();
	const onAbort = () => aborted.reject(signal.reason ?? upstreamTimedOut("no engine in time"));
	if (signal.aborted) onAbort();
	else signal.addEventListener("abort", onAbort, { once: true });
	try {
		return await Promise.race([endpoint, aborted.promise]);
	} finally {
		signal.removeEventListener("abort", onAbort);
	}
}

/** Logs a failure: account faults as errors, since the operator must act; refused requests quietly. */
export function logFailure(log: Log, requestId: string, upstream: string, failure: UpstreamFailure): void {
	const fields = { requestId, upstream, kind: failure.kind, detail: failure.message };
	if (failure.kind === "account") log.error(fields, "an upstream refuses our account: check its key, credit and quota");
	else if (failure.kind === "request" || failure.kind === "unable" || failure.kind === "given")
		log.debug(fields, "an upstream refused a request");
	else log.warn(fields, "an upstream failed");
}
