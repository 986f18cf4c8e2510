import { type ExporterOptions, type OtlpAttribute, OtlpExporter, type OtlpSpan } from "./otlp-exporter.ts";
import type { RequestTrace, Span, Tracer } from "./port.ts";
import { createId, parseTraceparent, traceparentOf } from "./trace-context.ts";

export interface TracerOptions extends ExporterOptions {
	/** The share of requests that is sampled if their caller made no decision, 0 to 1. */
	readonly share: number;
	/** Names of upstreams that receive a traceparent. */
	readonly passTo: readonly string[];
	readonly random?: () => number;
}

/** The number of spans in one trace; later ones are dropped. */
const MAX_SPANS = 256;

/** Traces requests in OTLP's JSON. A caller's parent is used if the request names one; the request's id is our own. */
export class OtlpTracer implements Tracer {
	readonly exporter: OtlpExporter;
	readonly #share: number;
	readonly #passTo: ReadonlySet<string>;
	readonly #random: () => number;
	readonly #running = new Map<string, Trace>();

	constructor(options: TracerOptions) {
		this.exporter = new OtlpExporter(options);
		this.#share = options.share;
		this.#passTo = new Set(options.passTo);
		this.#random = options.random ?? Math.random;
	}

	begin(requestId: string, name: string, traceparent: string | null): RequestTrace | null {
		const parent = parseTraceparent(traceparent);
		if (parent === null ? this.#random() >= this.#share : !parent.sampled) return null;
		const trace = new Trace(parent?.traceId ?? createId(16), parent?.spanId, name, (spans) => {
			this.#running.delete(requestId);
			this.exporter.add(spans);
		});
		this.#running.set(requestId, trace);
		return trace;
	}

	of(requestId: string): RequestTrace | null {
		return this.#running.get(requestId) ?? null;
	}

	passesTo(upstream: string): boolean {
		return this.#passTo.has(upstream);
	}

	close(): Promise<void> {
		return this.exporter.close();
	}
}

class Trace implements RequestTrace {
	readonly root: TraceSpan;
	readonly #traceId: string;
	readonly #export: (spans: readonly OtlpSpan[]) => void;
	readonly #spans: TraceSpan[] = [];
	#step: TraceSpan | null = null;
	#ended = false;

	constructor(traceId: string, parentId: string | undefined, name: string, onEnd: (spans: readonly OtlpSpan[]) => void) {
		this.#traceId = traceId;
		this.#export = onEnd;
		this.root = new TraceSpan(traceId, parentId, name, 2);
		this.#spans.push(this.root);
	}

	step(name: string): void {
		this.#step?.end();
		this.#step = this.#add(new TraceSpan(this.#traceId, this.root.spanId, name, 1));
	}

	span(name: string, kind: "internal" | "client" = "internal"): Span {
		const parent = this.#step ?? this.root;
		return this.#add(new TraceSpan(this.#traceId, parent.spanId, name, kind === "client" ? 3 : 1));
	}

	end(): void {
		if (this.#ended) return;
		this.#ended = true;
		for (const span of this.#spans) span.end();
		this.#export(this.#spans.map((span) => span.toOtlp()));
	}

	#add(span: TraceSpan): TraceSpan {
		if (!this.#ended && this.#spans.length < MAX_SPANS) this.#spans.push(span);
		return span;
	}
}

class TraceSpan implements Span {
	readonly spanId = createId(8);
	readonly #traceId: string;
	readonly #parentId: string | undefined;
	readonly #name: string;
	readonly #kind: OtlpSpan["kind"];
	readonly #startedAt = nowNanos();
	readonly #attributes: OtlpAttribute[] = [];
	readonly #events: { readonly timeUnixNano: string; readonly name: string }[] = [];
	#failure: string | null = null;
	#endedAt: string | null = null;

	constructor(traceId: string, parentId: string | undefined, name: string, kind: OtlpSpan["kind"]) {
		this.#traceId = traceId;
		this.#parentId = parentId;
		this.#name = name;
		this.#kind = kind;
	}

	get traceparent(): string {
		return traceparentOf(this.#traceId, this.spanId);
	}

	set(key: string, value: string | number | boolean): void {
		this.#attributes.push({ key, value: attributeValue(value) });
	}

	event(name: string): void {
		this.#events.push({ timeUnixNano: nowNanos(), name });
	}

	fail(code: string): void {
		this.#failure = code;
	}

	end(): void {
		this.#endedAt ??= nowNanos();
	}

	toOtlp(): OtlpSpan {
		return {
			traceId: this.#traceId,
			spanId: this.spanId,
			...(this.#parentId === undefined ? {} : { parentSpanId: this.#parentId }),
			name: this.#name,
			kind: this.#kind,
			startTimeUnixNano: this.#startedAt,
			endTimeUnixNano: this.#endedAt ?? this.#startedAt,
			attributes: this.#attributes,
			...(this.#events.length === 0 ? {} : { events: this.#events }),
			...(this.#failure === null ? {} : { status: { code: 2, message: this.#failure } }),
		};
	}
}

function attributeValue(value: string | number | boolean): OtlpAttribute["value"] {
	if (typeof value === "string") return { stringValue: value };
	if (typeof value === "boolean") return { boolValue: value };
	return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Returns Unix time in nanoseconds, exact to the microsecond; it follows the wall clock of the process's start. */
function nowNanos(): string {
	const micros = Math.round((performance.timeOrigin + performance.now()) * 1_000);
	return `${micros}000`;
}
