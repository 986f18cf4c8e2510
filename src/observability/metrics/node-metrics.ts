import { readdirSync } from "node:fs";
import { histograms, labelledMetric, type Metric, singleMetric } from "./metric.ts";

const ENGINE_STATES = ["stopped", "starting", "ready", "backing-off"] as const;

export const BOOK_METRICS: readonly Metric[] = [
	singleMetric("gauge", "turnpike_holds_open", "Running requests with a price", (deps) => deps.holdsOpen()),
	singleMetric("gauge", "turnpike_node_epoch", "The node's boots on this store", ({ node }) => node.epoch),
	singleMetric("gauge", "turnpike_node_takes_work", "1: new paid requests are taken; 0: they get 503", ({ journal }) =>
		Number(journal.workRefusal() === null),
	),
	labelledMetric(
		"gauge",
		"turnpike_node_no_room",
		"1 for the reason why no new paid requests are taken",
		["reason"],
		({ journal }) => {
			const refusal = journal.workRefusal();
			return refusal === null ? [] : [{ labels: { reason: refusal.reason }, value: 1 }];
		},
	),
	labelledMetric(
		"gauge",
		"turnpike_node_term_left_seconds",
		"PostgreSQL: for how long this node's leases are its own without another heartbeat",
		[],
		({ journal }) => (typeof journal.termLeftMs === "number" ? [{ value: journal.termLeftMs / 1_000 }] : []),
	),
	singleMetric("counter", "turnpike_leases_ended_total", "How often the store ended this node's leases", (deps) =>
		deps.leasesEnded(),
	),
	singleMetric(
		"gauge",
		"turnpike_journal_written_seq",
		"Last group of the journal that was written",
		({ journal }) => journal.writtenSeq,
	),
	singleMetric(
		"gauge",
		"turnpike_journal_applied_seq",
		"Last group of the journal that the store has",
		({ journal }) => journal.appliedSeq,
	),
	singleMetric(
		"gauge",
		"turnpike_journal_backlog_bytes",
		"Bytes of the journal that the store lacks",
		({ journal }) => journal.backlogBytes,
	),
	histograms("turnpike_journal_sync_seconds", "Time of syncs of the journal to the disk", [], ({ journal: { syncSeconds } }) =>
		syncSeconds === undefined ? [] : [{ labels: {}, histogram: syncSeconds }],
	),
	singleMetric("gauge", "turnpike_alerts_firing", "Alerts that this node raised and that stand", (deps) => deps.alerts().firing),
	singleMetric(
		"gauge",
		"turnpike_alerts_waiting",
		"Notices to webhooks that wait for their turn",
		(deps) => deps.alerts().waiting,
	),
	singleMetric("counter", "turnpike_alerts_sent_total", "Notices that a webhook took", (deps) => deps.alerts().sent),
	singleMetric("counter", "turnpike_alerts_failed_total", "Notices that were given up", (deps) => deps.alerts().failed),
	singleMetric("counter", "turnpike_trace_spans_sent_total", "Spans that the collector took", (deps) => deps.spans().sent),
	singleMetric(
		"counter",
		"turnpike_trace_spans_dropped_total",
		"Spans that were let go: too many waited, or the collector was away",
		(deps) => deps.spans().dropped,
	),
];

export const ENGINE_METRICS: readonly Metric[] = [
	labelledMetric("gauge", "turnpike_engine_processes", "Child processes by state", ["engine", "state"], async (deps) =>
		(await deps.engines()).flatMap(({ engine, byState }) =>
			ENGINE_STATES.map((state) => ({ labels: { engine, state }, value: byState[state] })),
		),
	),
	labelledMetric("gauge", "turnpike_engine_resident_bytes", "Memory of an engine's child processes", ["engine"], async (deps) =>
		(await deps.engines()).map(({ engine, rssBytes }) => ({ labels: { engine }, value: rssBytes })),
	),
	labelledMetric("gauge", "turnpike_engine_jobs_waiting", "Jobs that wait for a process", ["engine"], async (deps) =>
		(await deps.engines()).map(({ engine, waiting }) => ({ labels: { engine }, value: waiting })),
	),
	labelledMetric("gauge", "turnpike_engine_jobs_working", "Jobs that are done now", ["engine"], async (deps) =>
		(await deps.engines()).map(({ engine, working }) => ({ labels: { engine }, value: working })),
	),
	labelledMetric("counter", "turnpike_engine_starts_total", "Starts of child processes", ["engine"], async (deps) =>
		(await deps.engines()).map(({ engine, starts }) => ({ labels: { engine }, value: starts })),
	),
	labelledMetric(
		"counter",
		"turnpike_engine_crashes_total",
		"Child processes that ended by themselves or were too large",
		["engine"],
		async (deps) => (await deps.engines()).map(({ engine, crashes }) => ({ labels: { engine }, value: crashes })),
	),
	labelledMetric(
		"counter",
		"turnpike_engine_kills_total",
		"Child processes that were ended with their job",
		["engine"],
		async (deps) => (await deps.engines()).map(({ engine, kills }) => ({ labels: { engine }, value: kills })),
	),
];

export const PROCESS_METRICS: readonly Metric[] = [
	labelledMetric("gauge", "turnpike_build_info", "1, with the version that runs", ["version"], ({ version }) => [
		{ labels: { version }, value: 1 },
	]),
	singleMetric(
		"gauge",
		"turnpike_body_memory_bytes",
		"Bytes of large request bodies in memory",
		({ bodyMemory }) => bodyMemory.used,
	),
	singleMetric(
		"gauge",
		"turnpike_body_memory_limit_bytes",
		"Their bound (server.maxBodyBytesInFlight)",
		({ bodyMemory }) => bodyMemory.limit,
	),
	histograms("turnpike_event_loop_lag_seconds", "How late timers run, twice a second since the first scrape", [], ({ lag }) => [
		{ labels: {}, histogram: lag.seconds },
	]),
	singleMetric("counter", "process_cpu_seconds_total", "CPU time of this process", () => {
		const { user, system } = process.cpuUsage();
		return (user + system) / 1e6;
	}),
	singleMetric("gauge", "process_resident_memory_bytes", "Memory of this process, without its children", () =>
		process.memoryUsage.rss(),
	),
	singleMetric("gauge", "process_start_time_seconds", "When it was started, Unix seconds", () =>
		Math.round(Date.now() / 1_000 - process.uptime()),
	),
	labelledMetric("gauge", "process_open_fds", "Open files and sockets, where the system tells", [], () => {
		const open = openFiles();
		return open === null ? [] : [{ value: open }];
	}),
];

function openFiles(): number | null {
	try {
		return readdirSync("/proc/self/fd").length;
	} catch {
		return null;
	}
}
