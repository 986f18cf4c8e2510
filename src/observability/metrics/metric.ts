import type { Histogram } from "../../telemetry/histogram.ts";
import type { MetricsDeps } from "./metrics-deps.ts";

export type MetricKind = "counter" | "gauge" | "histogram";

export type Labels = Readonly<Record<string, string>>;

/** One line of a scrape. `bucketsOf` makes the lines of a `Histogram`. */
export interface Sample {
	readonly labels?: Labels;
	readonly value: number;
	/** Set if it differs from the metric's own name: `_bucket`, `_sum`, `_count`. */
	readonly metricName?: string;
}

/** The lines of a scrape under one name: declared once, read from the modules at each scrape. */
export interface Metric {
	readonly name: string;
	readonly kind: MetricKind;
	readonly help: string;
	readonly labels: readonly string[];
	read(deps: MetricsDeps): readonly Sample[] | Promise<readonly Sample[]>;
}

type Read<T> = (deps: MetricsDeps) => T;

/** Declares a metric of one number. */
export function singleMetric(kind: "counter" | "gauge", name: string, help: string, value: Read<number>): Metric {
	return { name, kind, help, labels: [], read: (deps) => [{ value: value(deps) }] };
}

/** Declares a metric with one number for each label value. */
export function labelledMetric(
	kind: "counter" | "gauge",
	name: string,
	help: string,
	labels: readonly string[],
	read: Read<readonly Sample[] | Promise<readonly Sample[]>>,
): Metric {
	return { name, kind, help, labels, read };
}

/** Declares a metric with one histogram for each label value. */
export function histograms(
	name: string,
	help: string,
	labels: readonly string[],
	read: Read<readonly { readonly labels: Labels; readonly histogram: Histogram }[]>,
): Metric {
	const samples = (deps: MetricsDeps) => read(deps).flatMap(({ labels: of, histogram }) => bucketsOf(name, of, histogram));
	return { name, kind: "histogram", help, labels, read: samples };
}

/** Returns the lines of a histogram, cumulated as Prometheus reads them. */
function bucketsOf(name: string, labels: Labels, histogram: Histogram): Sample[] {
	let cumulative = 0;
	const buckets = histogram.bounds.map((bound, index) => {
		cumulative += histogram.counts[index] ?? 0;
		return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: cumulative };
	});
	return [
		...buckets,
		{ metricName: `${name}_bucket`, labels: { ...labels, le: "+Inf" }, value: histogram.count },
		{ metricName: `${name}_sum`, labels, value: histogram.sum },
		{ metricName: `${name}_count`, labels, value: histogram.count },
	];
}
