import { timingSafeEqual } from "node:crypto";
import type { OpenMetricsContentType } from "prom-client";
import { isLoopback } from "../../server/index.ts";
import { mergePages } from "./merge-pages.ts";
import type { Metric } from "./metric.ts";
import type { MetricsDeps } from "./metrics-deps.ts";

interface Page {
	readonly contentType: string;
	metrics(): Promise<string>;
}

type MetricsFormat = "prometheus" | "openmetrics";

/** What workers ask each other. */
const QUESTION = "metrics";

/** Serves GET /metrics. The first scrape loads the library. Callers without permission get 403. */
export class MetricsPage {
	readonly #deps: MetricsDeps;
	readonly #metrics: readonly Metric[];
	readonly #pages = new Map<MetricsFormat, Promise<Page>>();

	constructor(metrics: readonly Metric[], deps: MetricsDeps) {
		this.#metrics = metrics;
		this.#deps = deps;
		deps.peers?.answer(QUESTION, (format) => {
			deps.lag.start();
			return this.#text(format === "openmetrics" ? format : "prometheus");
		});
	}

	async answer(request: Request, address: string): Promise<Response> {
		if (!this.#mayRead(request, address))
			return new Response("metrics are for this machine, or for who has metrics.token\n", { status: 403 });
		this.#deps.lag.start();
		const format = formatFor(request.headers.get("accept"));
		const { peers } = this.#deps;
		const text = peers === null ? await this.#text(format) : mergePages(await peers.gather(QUESTION, format));
		const { contentType } = await this.#page(format);
		return new Response(text, { headers: { "Content-Type": contentType, Vary: "Accept" } });
	}

	async #text(format: MetricsFormat): Promise<string> {
		return (await this.#page(format)).metrics();
	}

	#page(format: MetricsFormat): Promise<Page> {
		let page = this.#pages.get(format);
		if (page === undefined) {
			page = pageOf(format, this.#metrics, this.#deps);
			this.#pages.set(format, page);
		}
		return page;
	}

	#mayRead(request: Request, address: string): boolean {
		const token = this.#deps.token();
		if (token === undefined) return isLoopback(address);
		const [presentedToken, requestedFormat] = [Buffer.from(credential(request)), Buffer.from(`Bearer ${token}`)];
		return presentedToken.length === requestedFormat.length && timingSafeEqual(presentedToken, requestedFormat);
	}
}

/** Returns the bearer token. The scheme may be in any letter case (RFC 9110). */
function credential(request: Request): string {
	return (request.headers.get("authorization") ?? "").replace(/^bearer(?= )/i, "Bearer");
}

/** Returns OpenMetrics 1.0 if the reader accepts it, as Prometheus does. */
function formatFor(accept: string | null): MetricsFormat {
	return accept?.includes("application/openmetrics-text") ? "openmetrics" : "prometheus";
}

/** Renders the page. The library only formats; the counts come from the modules. */
async function pageOf(format: MetricsFormat, metrics: readonly Metric[], deps: MetricsDeps): Promise<Page> {
	const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
	const kinds = { counter: Counter, gauge: Gauge, histogram: Histogram };
	// OpenMetrics names a counter without the suffix that its lines have.
	const metricName = (name: string) => (format === "openmetrics" ? name.replace(/_total$/, "") : name);
	const libraryMetrics = metrics.map(({ name, help, kind, labels, read }) => {
		const metric = new kinds[kind]({ name: metricName(name), help, labelNames: [...labels], registers: [] });
		const described = metric.get();
		const get = async () => ({ ...(await described), values: filled(await read(deps)) });
		// The library calls `getForPromString` for a histogram.
		return Object.assign(metric, { get, getForPromString: get });
	});
	if (format === "openmetrics") {
		const registry = new Registry<OpenMetricsContentType>();
		registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
		for (const metric of libraryMetrics) registry.registerMetric(metric);
		return registry;
	}
	const registry = new Registry();
	for (const metric of libraryMetrics) registry.registerMetric(metric);
	return registry;
}

function filled<S extends { readonly labels?: Readonly<Record<string, string>> }>(samples: readonly S[]) {
	return samples.map((sample) => ({ ...sample, labels: sample.labels ?? {} }));
}
