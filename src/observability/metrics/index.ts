/**
 * GET /metrics: what operators monitor. The request pipeline only increments plain numbers; a scrape reads them from the
 * modules. Labels come from bounded sets: endpoints, models of the catalog, upstreams and networks of the configuration, codes
 * of the error table.
 */
import type { Metric } from "./metric.ts";
import { ENGINE_METRICS, LEDGER_METRICS, PROCESS_METRICS } from "./node-metrics.ts";
import { REQUEST_METRICS } from "./request-metrics.ts";
import { CHAIN_METRICS, UPSTREAM_METRICS } from "./upstream-metrics.ts";

/** All metrics, in the order of the page. */
export const METRICS: readonly Metric[] = [
	...REQUEST_METRICS,
	...UPSTREAM_METRICS,
	...CHAIN_METRICS,
	...LEDGER_METRICS,
	...ENGINE_METRICS,
	...PROCESS_METRICS,
];

export { LoopLag } from "./loop-lag.ts";
export type { MetricsDeps } from "./metrics-deps.ts";
export { MetricsPage } from "./metrics-page.ts";
