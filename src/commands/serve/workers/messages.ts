/** Messages between a worker and its supervisor, over the runtime's channel to child processes. */
import type { MetricsFormat, WorkerMetrics } from "../../../observability/metrics/index.ts";
import type { FromThread, ToThread } from "../../../store/thread-protocol.ts";

/** The environment variables in which a worker finds its number, and, where others serve already, that it joins them. */
export const WORKER_VARIABLE = "TURNPIKE_WORKER";
export const JOINS_VARIABLE = "TURNPIKE_WORKER_JOINS";

export type ToWorker =
	/** A message of the store thread that the supervisor runs for the worker; SQLite only. */
	| { readonly type: "store"; readonly message: FromThread }
	/** Answered at once, so that a worker whose event loop stands still is noticed. */
	| { readonly type: "ping" }
	/** Requests the worker's own metrics. */
	| { readonly type: "metrics"; readonly id: number; readonly format: MetricsFormat }
	/** Answers `all-metrics`. */
	| { readonly type: "all-metrics"; readonly id: number; readonly pages: readonly WorkerMetrics[] };

export type FromWorker =
	| { readonly type: "store"; readonly message: ToThread }
	/** The worker answers requests at this address. */
	| { readonly type: "serving"; readonly url: string }
	| { readonly type: "pong" }
	| { readonly type: "metrics"; readonly id: number; readonly text: string }
	/** Requests the metrics of all workers. */
	| { readonly type: "all-metrics"; readonly id: number; readonly format: MetricsFormat };
