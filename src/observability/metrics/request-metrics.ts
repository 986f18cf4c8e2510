import { NANO_PER_USD } from "../../ledger/nano.ts";
import type { EndpointCounts, ModelCounts } from "../../telemetry/request-counts.ts";
import { histograms, labelledMetric, type Metric, type Sample } from "./metric.ts";
import type { MetricsDeps } from "./metrics-deps.ts";

export const REQUEST_METRICS: readonly Metric[] = [
	labelledMetric(
		"counter",
		"turnpike_requests_total",
		"Answers by class of status; 499 if the caller had left. model is empty if the request named none, or was refused first",
		["endpoint", "model", "status"],
		(deps) =>
			eachModel(deps, ({ answers }, labels) => [...answers].map(([status, value]) => ({ labels: { ...labels, status }, value }))),
	),
	labelledMetric(
		"counter",
		"turnpike_errors_total",
		"Refused and failed requests, by the code of the error table",
		["endpoint", "code"],
		(deps) =>
			eachEndpoint(deps, ({ errors }, endpoint) => [...errors].map(([code, value]) => ({ labels: { endpoint, code }, value }))),
	),
	labelledMetric("gauge", "turnpike_requests_running", "Running requests", ["endpoint"], (deps) =>
		eachEndpoint(deps, ({ running }, endpoint) => [{ labels: { endpoint }, value: running }]),
	),
	histograms("turnpike_request_first_byte_seconds", "Time to the first byte of an answer", ["endpoint"], ({ counts }) =>
		[...counts.endpoints].map(([endpoint, { firstByte }]) => ({ labels: { endpoint }, histogram: firstByte })),
	),
	histograms("turnpike_request_seconds", "Time to the end of an answer", ["endpoint"], ({ counts }) =>
		[...counts.endpoints].map(([endpoint, { whole }]) => ({ labels: { endpoint }, histogram: whole })),
	),
	labelledMetric("counter", "turnpike_tokens_total", "Tokens of posted requests", ["endpoint", "model", "direction"], (deps) =>
		eachModel(deps, ({ promptTokens, completionTokens }, labels) =>
			promptTokens + completionTokens === 0
				? []
				: [
						{ labels: { ...labels, direction: "prompt" }, value: promptTokens },
						{ labels: { ...labels, direction: "completion" }, value: completionTokens },
					],
		),
	),
	labelledMetric(
		"counter",
		"turnpike_spend_usd_total",
		"Posted charges in USD (a diem is one USD of use). unit: diem, usd (including bundled credit), owed (not yet taken from free money), overrun (paid by the operator)",
		["endpoint", "model", "unit"],
		(deps) =>
			eachModel(deps, ({ usdNano, diemNano, owedNano, overrunNano }, labels) =>
				Object.entries({ usd: usdNano, diem: diemNano, owed: owedNano, overrun: overrunNano }).flatMap(([unit, nano]) =>
					nano === 0 ? [] : [{ labels: { ...labels, unit }, value: nano / NANO_PER_USD }],
				),
			),
	),
];

function eachEndpoint({ counts }: MetricsDeps, read: (counts: EndpointCounts, endpoint: string) => Sample[]): Sample[] {
	return [...counts.endpoints].flatMap(([endpoint, counts]) => read(counts, endpoint));
}

function eachModel(
	deps: MetricsDeps,
	read: (counts: ModelCounts, labels: { readonly endpoint: string; readonly model: string }) => Sample[],
): Sample[] {
	return eachEndpoint(deps, ({ models }, endpoint) =>
		[...models].flatMap(([model, counts]) => read(counts, { endpoint, model })),
	);
}
