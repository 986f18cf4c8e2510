import type { CallCounts } from "../../upstreams/call-counts.ts";
import type { RpcMemberStatus } from "../../upstreams/rpc/upstreams.ts";
import { histograms, type Labels, labelledMetric, type Metric, type Sample, singleMetric } from "./metric.ts";
import type { MetricsDeps } from "./metrics-deps.ts";

const MEMBER = ["network", "upstream"];
const STATES = ["up", "trial", "out"] as const;

export const UPSTREAM_METRICS: readonly Metric[] = [
	labelledMetric("gauge", "turnpike_upstream_up", "1: the upstream is in use; 0: it is out or on trial", ["upstream"], (deps) =>
		deps.upstreams().map(({ name, state }) => ({ labels: { upstream: name }, value: Number(state === "up") })),
	),
	labelledMetric("gauge", "turnpike_upstream_state", "1 for the current state of the upstream", ["upstream", "state"], (deps) =>
		deps
			.upstreams()
			.flatMap(({ name, state }) =>
				STATES.map((candidate) => ({ labels: { upstream: name, state: candidate }, value: Number(state === candidate) })),
			),
	),
	labelledMetric("gauge", "turnpike_upstream_running", "Running calls to the upstream", ["upstream"], (deps) =>
		deps.upstreams().map(({ name, running }) => ({ labels: { upstream: name }, value: running })),
	),
	labelledMetric(
		"gauge",
		"turnpike_upstream_max_running",
		"Maximum number of running calls (maxConcurrent); absent if there is no limit",
		["upstream"],
		(deps) =>
			deps
				.upstreams()
				.flatMap(({ name, maxConcurrent }) =>
					maxConcurrent === null ? [] : [{ labels: { upstream: name }, value: maxConcurrent }],
				),
	),
	labelledMetric(
		"counter",
		"turnpike_upstream_calls_total",
		"Calls by outcome: good, left (the caller left), or the kind of failure",
		["upstream", "outcome"],
		(deps) =>
			eachUpstream(deps, (labels, { outcomes }) =>
				[...outcomes].map(([outcome, value]) => ({ labels: { ...labels, outcome }, value })),
			),
	),
	labelledMetric(
		"counter",
		"turnpike_upstream_retries_total",
		"Calls after a failed call of the same request",
		["upstream"],
		(deps) => eachUpstream(deps, (labels, { retries }) => [{ labels, value: retries }]),
	),
	labelledMetric(
		"counter",
		"turnpike_upstream_ejections_total",
		"Number of times that the upstream was taken out after faults",
		["upstream"],
		(deps) => eachUpstream(deps, (labels, { ejections }) => [{ labels, value: ejections }]),
	),
	histograms("turnpike_upstream_first_byte_seconds", "Time to the head of the upstream's answers", ["upstream"], (deps) =>
		[...deps.upstreamCounts()].map(([upstream, { headSeconds }]) => ({ labels: { upstream }, histogram: headSeconds })),
	),
	histograms("turnpike_upstream_seconds", "Time to the end of the upstream's good answers", ["upstream"], (deps) =>
		[...deps.upstreamCounts()].map(([upstream, { seconds }]) => ({ labels: { upstream }, histogram: seconds })),
	),
];

export const CHAIN_METRICS: readonly Metric[] = [
	singleMetric(
		"counter",
		"turnpike_rpc_cache_hits_total",
		"Items of chain calls that were answered from the cache",
		(deps) => deps.chainCache().hits,
	),
	singleMetric(
		"counter",
		"turnpike_rpc_cache_misses_total",
		"Cacheable items of chain calls that were not in the cache",
		(deps) => deps.chainCache().misses,
	),
	singleMetric(
		"counter",
		"turnpike_rpc_cache_shared_total",
		"Items of chain calls that were answered by another caller's running call",
		(deps) => deps.chainCache().shared,
	),
	singleMetric("gauge", "turnpike_rpc_cache_entries", "Answers in the cache", (deps) => deps.chainCache().entries),
	singleMetric("gauge", "turnpike_rpc_cache_bytes", "Memory of the cached answers", (deps) => deps.chainCache().bytes),
	labelledMetric(
		"gauge",
		"turnpike_rpc_upstream_up",
		"1: the chain's upstream is in use; 0: it is out or on trial",
		MEMBER,
		(deps) => eachMember(deps, ({ state }, labels) => [{ labels, value: Number(state === "up") }]),
	),
	labelledMetric("gauge", "turnpike_rpc_upstream_running", "Running calls to the chain's upstream", MEMBER, (deps) =>
		eachMember(deps, ({ running }, labels) => [{ labels, value: running }]),
	),
	labelledMetric("gauge", "turnpike_rpc_upstream_head", "The newest block that the upstream reported", MEMBER, (deps) =>
		eachMember(deps, ({ reached }, labels) => (reached === null ? [] : [{ labels, value: reached }])),
	),
	labelledMetric(
		"gauge",
		"turnpike_rpc_upstream_lag_blocks",
		"Number of blocks that the upstream is behind the best one of its network",
		MEMBER,
		(deps) =>
			deps.chains().flatMap(({ network, upstreams }) => {
				const bestReached = Math.max(...upstreams.map(({ reached }) => reached ?? -1));
				return upstreams.flatMap(({ name, reached }) =>
					reached === null ? [] : [{ labels: { network, upstream: name }, value: bestReached - reached }],
				);
			}),
	),
	labelledMetric(
		"gauge",
		"turnpike_rpc_network_online",
		"1: the network has an upstream in use; 0: it has none",
		["network"],
		(deps) => deps.chains().map(({ network, online }) => ({ labels: { network }, value: Number(online) })),
	),
	labelledMetric("gauge", "turnpike_rpc_network_final", "The newest final block of the network", ["network"], (deps) =>
		deps.chains().flatMap(({ network }) => {
			const block = deps.finalBlock(network);
			return block === null ? [] : [{ labels: { network }, value: block }];
		}),
	),
	labelledMetric(
		"counter",
		"turnpike_rpc_upstream_calls_total",
		"HTTP calls by outcome: good, refused (by its status), stopped (another call was faster, or the caller left), or the kind of fault",
		[...MEMBER, "outcome"],
		(deps) =>
			eachMember(deps, ({ counts }, labels) =>
				[...counts.outcomes].map(([outcome, value]) => ({ labels: { ...labels, outcome }, value })),
			),
	),
	labelledMetric(
		"counter",
		"turnpike_rpc_upstream_ejections_total",
		"Number of times that the upstream was taken out after faults",
		MEMBER,
		(deps) => eachMember(deps, ({ counts }, labels) => [{ labels, value: counts.ejections }]),
	),
	histograms("turnpike_rpc_upstream_seconds", "Time to the head of the upstream's good answers", MEMBER, (deps) =>
		deps
			.chains()
			.flatMap(({ network, upstreams }) =>
				upstreams.map(({ name, counts }) => ({ labels: { network, upstream: name }, histogram: counts.seconds })),
			),
	),
];

function eachUpstream(deps: MetricsDeps, read: (labels: Labels, counts: CallCounts) => Sample[]): Sample[] {
	return [...deps.upstreamCounts()].flatMap(([upstream, counts]) => read({ upstream }, counts));
}

function eachMember(deps: MetricsDeps, read: (member: RpcMemberStatus, labels: Labels) => Sample[]): Sample[] {
	return deps
		.chains()
		.flatMap(({ network, upstreams }) => upstreams.flatMap((member) => read(member, { network, upstream: member.name })));
}
