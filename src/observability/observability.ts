import type { Config } from "../config/index.ts";
import type { Connection } from "../server/index.ts";
import type { Log } from "../telemetry/log.ts";
import { RequestCounts } from "../telemetry/request-counts.ts";
import type { OtlpTracer } from "../telemetry/tracing/otlp-tracer.ts";
import type { Tracer } from "../telemetry/tracing/port.ts";
import { LoopLag, METRICS, type MetricsDeps, MetricsPage } from "./metrics/index.ts";

export interface ObservabilityDeps {
	readonly config: Pick<Config, "traces">;
	readonly version: string;
	readonly log: Log;
}

/** Shows the operator how the node performs: request counts, the metrics page, traces. */
export class Observability {
	readonly counts = new RequestCounts();
	readonly tracer: () => Tracer | null = () => this.#tracer;
	readonly #lag = new LoopLag();
	#tracer: OtlpTracer | null = null;
	#leasesEnded = 0;
	#loading: Promise<void> = Promise.resolve();

	constructor({ config: { traces }, version, log }: ObservabilityDeps) {
		const { url, headers = {}, share, passTo } = traces;
		if (url === undefined) return;
		// The tracer is loaded only if traces are configured.
		this.#loading = import("../telemetry/tracing/otlp-tracer.ts").then(({ OtlpTracer }) => {
			this.#tracer = new OtlpTracer({ url, headers, share, passTo, version, log });
		});
	}

	/** Resolves when the tracer is loaded, if traces are configured. */
	ready(): Promise<void> {
		return this.#loading;
	}

	/** Counts that the store ended this node's leases. */
	leasesEnded(): void {
		this.#leasesEnded++;
	}

	/** Returns the page of GET /metrics; `deps` are the counts that other modules keep. */
	metricsPage(deps: Omit<MetricsDeps, "counts" | "lag" | "leasesEnded" | "spans">) {
		const { counts } = this;
		const spans = () => {
			const { sent = 0, dropped = 0 } = this.#tracer?.exporter ?? {};
			return { sent, dropped };
		};
		const page = new MetricsPage(METRICS, {
			...deps,
			counts,
			lag: this.#lag,
			leasesEnded: () => this.#leasesEnded,
			spans,
		});
		return {
			path: "/metrics",
			answer: (request: Request, connection: Connection) => page.answer(request, connection.address()),
		};
	}

	async stop(): Promise<void> {
		this.#lag.stop();
		await this.#loading;
		await this.#tracer?.close();
	}
}
