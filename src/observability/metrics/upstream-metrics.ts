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
	labelledMetric("gauge", "turnpike_upstream_state", "1 for the state that the upstream is in", ["upstream", "state"], (deps) =>
		deps
			.upstreams()
			.flatMap(({ name, state }) =>
				STATES.map((candidate) => ({ labels: { upstream: name, state: candidate }, value: Number(state === candidate) })),
			),
	),
	labelledMetric("gauge", "turnpike_upstream_running", "Calls that the upstream runs now", ["upstream"], (deps) =>
		deps.upstreams().map(({ name, running }) => ({ labels: { upstream: name }, value: running })),
	),
	labelledMetric(
		"gauge",
		"turnpike_upstream_max_running",
		"Calls that it may run at once; absent where there is no bound",
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
		"Calls by what came of them: good, left (the caller went), or the kind of failure",
		["upstream", "outcome"],
		(deps) =>
			eachUpstream(deps, (labels, { outcomes }) =>
				[...outcomes].map(([outcome, value]) => ({ labels: { ...labels, outcome }, value })),
			),
	),
	labelledMetric(
		"counter",
		"turnpike_upstream_retries_total",
		"Calls that followed a failure of the same request",
		["upstream"],
		(deps) => eachUpstream(deps, (labels, { retries }) => [{ labels, value: retries }]),
	),
	labelledMetric(
		"counter",
		"turnpike_upstream_ejections_total",
		"How often it was taken out after faults",
		["upstream"],
		(deps) => eachUpstream(deps, (labels, { ejections }) => [{ labels, value: ejections }]),
	),
	histograms("turnpike_upstream_first_byte_seconds", "Time until the head of its answer", ["upstream"], (deps) =>
		[...deps.upstreamCounts()].map(([upstream, { headSeconds }]) => ({ labels: { upstream }, histogram: headSeconds })),
	),
	histograms("turnpike_upstream_seconds", "Time of its good calls, to the end", ["upstream"], (deps) =>
		[...deps.upstreamCounts()].map(([upstream, { seconds }]) => ({ labels: { upstream }, histogram: seconds })),
	),
];

export const CHAIN_METRICS: readonly Metric[] = [
	singleMetric(
		"counter",
		"turnpike_rpc_cache_hits_total",
		"Items of chain calls answered from memory",
		(deps) => deps.chainCache().hits,
	),
	singleMetric(
		"counter",
		"turnpike_rpc_cache_misses_total",
		"Items that might have been kept and were not there",
		(deps) => deps.chainCache().misses,
	),
	singleMetric(
		"counter",
		"turnpike_rpc_cache_shared_total",
		"Items answered by a call of another that was under way",
		(deps) => deps.chainCache().shared,
	),
	singleMetric("gauge", "turnpike_rpc_cache_entries", "Answers in memory", (deps) => deps.chainCache().entries),
	singleMetric("gauge", "turnpike_rpc_cache_bytes", "Memory of kept answers", (deps) => deps.chainCache().bytes),
	labelledMetric(
		"gauge",
		"turnpike_rpc_upstream_up",
		"1: the upstream of a chain is in use; 0: it is out or on trial",
		MEMBER,
		(deps) => eachMember(deps, ({ state }, labels) => [{ labels, value: Number(state === "up") }]),
	),
	labelledMetric("gauge", "turnpike_rpc_upstream_running", "Calls that the upstream of a chain runs now", MEMBER, (deps) =>
		eachMember(deps, ({ running }, labels) => [{ labels, value: running }]),
	),
	labelledMetric("gauge", "turnpike_rpc_upstream_head", "The newest block that the upstream told of", MEMBER, (deps) =>
		eachMember(deps, ({ reached }, labels) => (reached === null ? [] : [{ labels, value: reached }])),
	),
	labelledMetric(
		"gauge",
		"turnpike_rpc_upstream_lag_blocks",
		"Blocks that it is behind the best of its network",
		MEMBER,
		(deps) =>
			deps.chains().flatMap(({ network, upstreams }) => {
				const bestReached = Math.max(...upstreams.map(({ reached }) => reached ?? -1));
				return upstreams.flatMap(({ name, reached }) =>
					reached === null ? [] : [{ labels: { network, upstream: name }, value: bestReached - reached }],
				);
			}),
	),
	labelledMetric("gauge", "turnpike_rpc_network_online", "1: an upstream serves the network", ["network"], (deps) =>
		deps.chains().map(({ network, online }) => ({ labels: { network }, value: Number(online) })),
	),
	labelledMetric("gauge", "turnpike_rpc_network_final", "The newest block of the network that is final", ["network"], (deps) =>
		deps.chains().flatMap(({ network }) => {
			const block = deps.finalBlock(network);
			return block === null ? [] : [{ labels: { network }, value: block }];
		}),
	),
	labelledMetric(
		"counter",
		"turnpike_rpc_upstream_calls_total",
		"HTTP calls by what came of them: good, refused (its status), stopped (a race was lost, or the caller left), or the kind of fault",
		[...MEMBER, "outcome"],
		(deps) =>
			eachMember(deps, ({ counts }, labels) =>
				[...counts.outcomes].map(([outcome, value]) => ({ labels: { ...labels, outcome }, value })),
			),
	),
	labelledMetric("counter", "turnpike_rpc_upstream_ejections_total", "How often it was taken out after faults", MEMBER, (deps) =>
		eachMember(deps, ({ counts }, labels) => [{ labels, value: counts.ejections }]),
	),
	histograms("turnpike_rpc_upstream_seconds", "Time until the head of its good answers", MEMBER, (deps) =>
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
