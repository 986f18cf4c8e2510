import type { Posted, PostInput } from "../budgets/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { EndpointCounts, RequestCounts } from "../telemetry/request-counts.ts";
import type { RequestTrace } from "../telemetry/tracing/port.ts";
import type { Call } from "./call.ts";

/** The steps of the pipeline, as a request's trace names them. */
export type Step = "identify" | "receive" | "admit" | "limit" | "hold" | "work" | "post" | "answer";

/** Reports one request to /metrics, the trace and the log. It sees no content, only names, numbers and codes. */
export class RequestObserver {
	readonly #call: Call;
	readonly #all: RequestCounts;
	readonly #counts: EndpointCounts;
	readonly #trace: RequestTrace | null;
	readonly #log: Log | null;
	readonly #startedAt = performance.now();
	#code: string | undefined;
	#model: string | null = null;
	#status = 0;
	#firstByteMs = 0;
	#posted: Posted | null = null;
	#usage: PostInput["usage"] = null;
	#upstream: string | null = null;

	/** @param log gets one line when the request has ended; null: none */
	constructor(call: Call, counts: RequestCounts, trace: RequestTrace | null, log: Log | null) {
		this.#call = call;
		this.#all = counts;
		this.#counts = counts.begin(call.endpoint.name);
		this.#trace = trace;
		this.#log = log;
	}

	/** Called when the pipeline begins this step. */
	step(name: Step): void {
		this.#trace?.step(name);
	}

	/** @param model the requested model, as the catalog names it */
	admitted(model: string | null): void {
		this.#model = model;
	}

	failed(code: string): void {
		this.#code = code;
		this.#all.failed(this.#counts, code);
		this.#trace?.root.fail(code);
	}

	posted(posted: Posted, { usage, upstream }: PostInput): void {
		this.#posted = posted;
		this.#usage = usage;
		this.#upstream = upstream;
		this.#all.posted(this.#counts, this.#model, posted, usage);
		if (this.#trace === null) return;
		const span = this.#trace.span("post");
		posted.durable.then(
			() => span.end(),
			() => span.fail("NOT_DURABLE"),
		);
	}

	/** Called when the answer's status is known. */
	answered(status: number): void {
		this.#status = status;
		this.#firstByteMs = performance.now() - this.#startedAt;
		this.#all.answered(this.#counts, this.#model, status, this.#firstByteMs / 1_000);
		this.#trace?.step("answer");
	}

	/** Called when the whole answer was sent, or its reader has left. */
	ended(): void {
		const tookMs = performance.now() - this.#startedAt;
		this.#all.ended(this.#counts, tookMs / 1_000);
		this.#endTrace();
		if (this.#log !== null) this.#write(this.#log, tookMs);
	}

	#endTrace(): void {
		const trace = this.#trace;
		if (trace === null) return;
		const { root } = trace;
		root.set("http.response.status_code", this.#status);
		if (this.#model !== null) root.set("turnpike.model", this.#model);
		if (this.#upstream !== null) root.set("turnpike.upstream", this.#upstream);
		if (this.#posted !== null) root.set("turnpike.price_nano_usd", this.#posted.priceNano);
		if (this.#usage !== null) {
			root.set("turnpike.prompt_tokens", this.#usage.promptTokens);
			root.set("turnpike.completion_tokens", this.#usage.completionTokens);
		}
		trace.end();
	}

	#write(log: Log, tookMs: number): void {
		const { requestId, endpoint, request, caller } = this.#call;
		const fields = {
			requestId,
			method: request.method,
			endpoint: endpoint.name,
			status: this.#status,
			code: this.#code,
			accountId: caller?.account.id,
			keyId: caller?.key.id,
			model: this.#model ?? undefined,
			upstream: this.#upstream ?? undefined,
			promptTokens: this.#usage?.promptTokens,
			completionTokens: this.#usage?.completionTokens,
			priceNanoUsd: this.#posted?.priceNano,
			firstByteMs: round(this.#firstByteMs),
			tookMs: round(tookMs),
			left: this.#call.signal.aborted ? true : undefined,
		};
		log.info(fields, "request");
	}
}

function round(ms: number): number {
	return Math.round(ms * 10) / 10;
}
