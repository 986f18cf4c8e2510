import type { Log } from "../log.ts";

/** A span in OTLP's JSON (opentelemetry-proto, trace/v1): ids in hex, times in nanoseconds as text. */
export interface OtlpSpan {
	readonly traceId: string;
	readonly spanId: string;
	readonly parentSpanId?: string;
	readonly name: string;
	/** 1 internal, 2 server, 3 client. */
	readonly kind: 1 | 2 | 3;
	readonly startTimeUnixNano: string;
	readonly endTimeUnixNano: string;
	readonly attributes: readonly OtlpAttribute[];
	readonly events?: readonly { readonly timeUnixNano: string; readonly name: string }[];
	/** 2: error. */
	readonly status?: { readonly code: 2; readonly message: string };
}

export interface OtlpAttribute {
	readonly key: string;
	readonly value:
		| { readonly stringValue: string }
		| { readonly intValue: string }
		| { readonly doubleValue: number }
		| { readonly boolValue: boolean };
}

export interface ExporterOptions {
	/** The collector's address for traces. */
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly version: string;
	readonly log: Log;
	readonly fetch?: typeof fetch;
	/** The longest time that a span waits; default 2 s. */
	readonly flushMs?: number;
}

const MAX_WAITING = 8_192;
const MAX_BATCH = 512;
const SEND_MS = 10_000;
const QUIET_MS = 60_000;

/**
 * Sends spans to a collector in batches, one at a time. Spans that cannot be sent are retried once, then dropped: an
 * unreachable collector costs spans, never requests or memory.
 */
export class OtlpExporter {
	sent = 0;
	dropped = 0;
	readonly #options: ExporterOptions;
	#waiting: OtlpSpan[] = [];
	#timer: ReturnType<typeof setTimeout> | null = null;
	#sending: Promise<void> | null = null;
	#loggedAtMs = Number.NEGATIVE_INFINITY;

	constructor(options: ExporterOptions) {
		this.#options = options;
	}

	add(spans: readonly OtlpSpan[]): void {
		if (this.#waiting.length + spans.length > MAX_WAITING) {
			this.dropped += spans.length;
			return;
		}
		this.#waiting.push(...spans);
		if (this.#waiting.length >= MAX_BATCH) this.#flush();
		else if (this.#timer === null) {
			this.#timer = setTimeout(() => this.#flush(), this.#options.flushMs ?? 2_000);
			this.#timer.unref();
		}
	}

	/** Sends waiting spans; resolves after the attempt. */
	async close(): Promise<void> {
		await this.#sending;
		this.#flush();
		await this.#sending;
	}

	#flush(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
		if (this.#sending !== null || this.#waiting.length === 0) return;
		this.#sending = this.#drain().finally(() => {
			this.#sending = null;
		});
	}

	async #drain(): Promise<void> {
		while (this.#waiting.length > 0) {
			const batch = this.#waiting.splice(0, MAX_BATCH);
			const fault = (await this.#send(batch)) === null ? null : await this.#send(batch);
			if (fault === null) {
				this.sent += batch.length;
				continue;
			}
			this.dropped += batch.length;
			this.#logFault(fault);
		}
	}

	/** Returns null if the collector accepted the spans, otherwise the reason. */
	async #send(spans: readonly OtlpSpan[]): Promise<string | null> {
		const { url, headers, version, fetch: send = fetch } = this.#options;
		const controller = new AbortController();
		const late = setTimeout(() => controller.abort(), SEND_MS);
		try {
			const response = await send(url, {
				method: "POST",
				headers: { "content-type": "application/json", "user-agent": "turnpike", ...headers },
				body: JSON.stringify(requestOf(spans, version)),
				redirect: "manual",
				signal: controller.signal,
			});
			await response.arrayBuffer();
			return response.ok ? null : `status ${response.status}`;
		} catch (error) {
			return error instanceof Error ? error.message : String(error);
		} finally {
			clearTimeout(late);
		}
	}

	#logFault(cause: string): void {
		const nowMs = performance.now();
		if (nowMs - this.#loggedAtMs < QUIET_MS) return;
		this.#loggedAtMs = nowMs;
		this.#options.log.warn({ cause, dropped: this.dropped }, "the trace collector accepts no spans; they are dropped");
	}
}

function requestOf(spans: readonly OtlpSpan[], version: string): object {
	const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
	return {
		resourceSpans: [
			{
				resource: { attributes: [text("service.name", "turnpike"), text("service.version", version)] },
				scopeSpans: [{ scope: { name: "turnpike", version }, spans }],
			},
		],
	};
}
