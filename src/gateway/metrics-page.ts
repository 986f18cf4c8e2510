import { timingSafeEqual } from "node:crypto";
import { isLoopback } from "../server/index.ts";

/** What is counted anyway, read at each scrape. */
export interface MetricsParts {
	/** `metrics.token`: who has it may read from anywhere; without one only this machine may. */
	readonly token: () => string | undefined;
	readonly holdsOpen: () => number;
	readonly journal: { readonly writtenSeq: number; readonly appliedSeq: number; readonly backlogBytes: number };
	readonly chainCache: () => {
		readonly hits: number;
		readonly misses: number;
		readonly shared: number;
		readonly entries: number;
		readonly bytes: number;
	};
	readonly chains: () => readonly {
		readonly network: string;
		readonly upstreams: readonly { readonly name: string; readonly state: string; readonly running: number }[];
	}[];
	readonly chatUpstreams: () => readonly { readonly name: string; readonly state: string; readonly running: number }[];
}

interface Sample {
	readonly labels?: Readonly<Record<string, string>>;
	readonly value: number;
}

interface Metric {
	readonly name: string;
	readonly help: string;
	readonly labels: readonly string[];
	read(): readonly Sample[];
}

/**
 * GET /metrics in the text form of Prometheus. Nothing is counted for it: it reads what the parts know. The library is
 * loaded by the first scrape. Answers 403 to whoever may not read it.
 */
export class MetricsPage {
	readonly #parts: MetricsParts;
	#registry: Promise<{ readonly contentType: string; metrics(): Promise<string> }> | undefined;

	constructor(parts: MetricsParts) {
		this.#parts = parts;
	}

	async answer(request: Request, address: string): Promise<Response> {
		if (!this.#mayRead(request, address))
			return new Response("metrics are for this machine, or for who has metrics.token\n", { status: 403 });
		this.#registry ??= register(metricsOf(this.#parts));
		const registry = await this.#registry;
		return new Response(await registry.metrics(), { headers: { "Content-Type": registry.contentType } });
	}

	#mayRead(request: Request, address: string): boolean {
		const token = this.#parts.token();
		if (token === undefined) return isLoopback(address);
		const [given, wanted] = [Buffer.from(request.headers.get("authorization") ?? ""), Buffer.from(`Bearer ${token}`)];
		return given.length === wanted.length && timingSafeEqual(given, wanted);
	}
}

async function register(metrics: readonly Metric[]) {
	const { Gauge, Registry } = await import("prom-client");
	const registry = new Registry();
	for (const { name, help, labels: labelNames, read } of metrics) {
		new Gauge({
			name,
			help,
			labelNames,
			registers: [registry],
			collect() {
				this.reset();
				for (const { labels = {}, value } of read()) this.set(labels, value);
			},
		});
	}
	return registry;
}

function metricsOf(parts: MetricsParts): Metric[] {
	const one = (name: string, help: string, value: () => number): Metric => ({
		name,
		help,
		labels: [],
		read: () => [{ value: value() }],
	});
	const { journal, chainCache } = parts;
	return [
		one("turnpike_holds_open", "Running requests with a price", parts.holdsOpen),
		one("turnpike_journal_written_seq", "Last group of the journal that was written", () => journal.writtenSeq),
		one("turnpike_journal_applied_seq", "Last group of the journal that the store has", () => journal.appliedSeq),
		one("turnpike_journal_backlog_bytes", "Bytes of the journal that the store lacks", () => journal.backlogBytes),
		one("turnpike_rpc_cache_hits", "Items of chain calls answered from memory since the start", () => chainCache().hits),
		one("turnpike_rpc_cache_misses", "Items that might have been kept and were not there", () => chainCache().misses),
		one("turnpike_rpc_cache_shared", "Items answered by a call of another that was under way", () => chainCache().shared),
		one("turnpike_rpc_cache_entries", "Answers in memory", () => chainCache().entries),
		one("turnpike_rpc_cache_bytes", "Memory of kept answers", () => chainCache().bytes),
		{
			name: "turnpike_rpc_upstream_up",
			help: "1: the upstream of a chain is in use; 0: it is out or on trial",
			labels: ["network", "upstream"],
			read: () =>
				parts
					.chains()
					.flatMap(({ network, upstreams }) =>
						upstreams.map(({ name, state }) => ({ labels: { network, upstream: name }, value: Number(state === "up") })),
					),
		},
		{
			name: "turnpike_upstream_up",
			help: "1: the chat upstream is in use; 0: it is out or on trial",
			labels: ["upstream"],
			read: () => parts.chatUpstreams().map(({ name, state }) => ({ labels: { upstream: name }, value: Number(state === "up") })),
		},
		{
			name: "turnpike_upstream_running",
			help: "Calls that the chat upstream runs now",
			labels: ["upstream"],
			read: () => parts.chatUpstreams().map(({ name, running }) => ({ labels: { upstream: name }, value: running })),
		},
	];
}
