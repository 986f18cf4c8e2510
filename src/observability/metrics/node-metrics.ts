import { readdirSync } from "node:fs";
import { histograms, labelledMetric, type Metric, singleMetric } from "./metric.ts";

const ENGINE_STATES = ["stopped", "starting", "ready", "backing-off"] as const;

export const LEDGER_METRICS: readonly Metric[] = [
	singleMetric("gauge", "turnpike_holds_open", "Running requests with an open hold", (deps) => deps.holdsOpen()),
	singleMetric(
		"gauge",
		"turnpike_node_epoch",
		"Number of times that the node has started on this store",
		({ node }) => node.epoch,
	),
	singleMetric("gauge", "turnpike_node_takes_work", "1: the node takes new paid requests; 0: they get 503", ({ journal }) =>
		Number(journal.workRefusal() === null),
	),
	labelledMetric(
		"gauge",
		"turnpike_node_no_room",
		"1 for the reason why the node takes no new paid requests",
		["reason"],
		({ journal }) => {
			const refusal = journal.workRefusal();
			return refusal === null ? [] : [{ labels: { reason: refusal.reason }, value: 1 }];
		},
	),
	labelledMetric(
		"gauge",
		"turnpike_node_term_left_seconds",
		"PostgreSQL: time until this node's leases end without another heartbeat",
		[],
		({ journal }) => (typeof journal.termLeftMs === "number" ? [{ value: journal.termLeftMs / 1_000 }] : []),
	),
	singleMetric("counter", "turnpike_leases_ended_total", "Number of times that the store ended this node's leases", (deps) =>
		deps.leasesEnded(),
	),
	singleMetric("gauge", "turnpike_journal_written_seq", "Last written group of the journal", ({ journal }) => journal.writtenSeq),
	singleMetric(
		"gauge",
		"turnpike_journal_applied_seq",
		"Last group of the journal that is in the store",
		({ journal }) => journal.appliedSeq,
	),
	singleMetric(
		"gauge",
		"turnpike_journal_backlog_bytes",
		"Bytes of the journal that are not in the store yet",
		({ journal }) => journal.backlogBytes,
	),
	histograms("turnpike_journal_sync_seconds", "Time of the journal's syncs to the disk", [], ({ journal: { syncSeconds } }) =>
		syncSeconds === undefined ? [] : [{ labels: {}, histogram: syncSeconds }],
	),
	singleMetric("gauge", "turnpike_alerts_firing", "Alerts of this node that are firing", (deps) => deps.alerts().firing),
	singleMetric(
		"gauge",
		"turnpike_alerts_waiting",
		"Notices that wait to be sent to the webhook",
		(deps) => deps.alerts().waiting,
	),
	singleMetric("counter", "turnpike_alerts_sent_total", "Notices that the webhook accepted", (deps) => deps.alerts().sent),
	singleMetric(
		"counter",
		"turnpike_alerts_failed_total",
		"Notices that were given up after all attempts",
		(deps) => deps.alerts().failed,
	),
	singleMetric("counter", "turnpike_trace_spans_sent_total", "Spans that the collector accepted", (deps) => deps.spans().sent),
	singleMetric(
		"counter",
		"turnpike_trace_spans_dropped_total",
		"Dropped spans: too many were waiting, or the collector could not be reached",
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
	labelledMetric("gauge", "turnpike_engine_jobs_waiting", "Jobs that wait for a child process", ["engine"], async (deps) =>
		(await deps.engines()).map(({ engine, waiting }) => ({ labels: { engine }, value: waiting })),
	),
	labelledMetric("gauge", "turnpike_engine_jobs_working", "Running jobs", ["engine"], async (deps) =>
		(await deps.engines()).map(({ engine, working }) => ({ labels: { engine }, value: working })),
	),
	labelledMetric("counter", "turnpike_engine_starts_total", "Starts of child processes", ["engine"], async (deps) =>
		(await deps.engines()).map(({ engine, starts }) => ({ labels: { engine }, value: starts })),
	),
	labelledMetric(
		"counter",
		"turnpike_engine_crashes_total",
		"Child processes that crashed or used too much memory",
		["engine"],
		async (deps) => (await deps.engines()).map(({ engine, crashes }) => ({ labels: { engine }, value: crashes })),
	),
	labelledMetric(
		"counter",
		"turnpike_engine_kills_total",
		"Child processes that were killed together with their job",
		["engine"],
		async (deps) => (await deps.engines()).map(({ engine, kills }) => ({ labels: { engine }, value: kills })),
	),
];

export const PROCESS_METRICS: readonly Metric[] = [
	labelledMetric("gauge", "turnpike_build_info", "Always 1; the label has the running version", ["version"], ({ version }) => [
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
		"Limit of the bytes of large request bodies in memory (server.maxBodyBytesInFlight)",
		({ bodyMemory }) => bodyMemory.limit,
	),
	histograms(
		"turnpike_event_loop_lag_seconds",
		"Delay of timers, measured twice a second since the first scrape",
		[],
		({ lag }) => [{ labels: {}, histogram: lag.seconds }],
	),
	singleMetric("counter", "process_cpu_seconds_total", "CPU time of this process", () => {
		const { user, system } = process.cpuUsage();
		return (user + system) / 1e6;
	}),
	singleMetric("gauge", "process_resident_memory_bytes", "Memory of this process, without its children", () =>
		process.memoryUsage.rss(),
	),
	singleMetric("gauge", "process_start_time_seconds", "Start time of this process, in Unix seconds", () =>
		Math.round(Date.now() / 1_000 - process.uptime()),
	),
	labelledMetric("gauge", "process_open_fds", "Open files and sockets, if the system reports them", [], () => {
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
