import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { ModelRow, ProbeResult, Traffic, UpstreamRow } from "../../../src/routes/console/types.ts";
import { call } from "../api/call.ts";
import { queries } from "../api/queries.ts";
import { count, duration, percent } from "../format/quantity.ts";
import { TextField } from "../parts/field.tsx";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Page, Section } from "../parts/page.tsx";
import { State, UpstreamState } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { say, sayFault } from "../parts/toasts.tsx";

/** The current state and traffic of each model and upstream. */
export function ModelsPage(): ReactNode {
	const upstreams = useQuery(queries.upstreams());
	const models = useQuery(queries.models());
	return (
		<Page title="Models and upstreams" says={window(upstreams.data?.windowSeconds)}>
			<Section title="Upstreams">
				<Loaded query={upstreams}>{({ upstreams: rows }) => <Upstreams rows={rows} />}</Loaded>
			</Section>
			<Section title="Models">
				<Loaded query={models}>{({ models: rows }) => <Models rows={rows} />}</Loaded>
			</Section>
		</Page>
	);
}

const window = (seconds: number | undefined): string =>
	seconds === undefined ? "Traffic of this node." : `Traffic of this node in the last ${duration(seconds * 1_000)}.`;

/** The columns of traffic, which models and upstreams share. */
const traffic: readonly Column<Traffic>[] = [
	{ name: "Requests", kind: "number", cell: ({ requests }) => count(requests), sortBy: ({ requests }) => requests },
	{
		name: "Errors",
		kind: "number",
		cell: ({ errors, requests }) =>
			errors === 0 ? <span className="quiet">0</span> : `${count(errors)} (${percent(errors / requests)})`,
		sortBy: ({ errors }) => errors,
	},
	{
		name: "Median",
		kind: "number",
		cell: ({ latencyMs }) => latency(latencyMs?.p50),
		sortBy: ({ latencyMs }) => latencyMs?.p50 ?? -1,
	},
	{
		name: "95 %",
		kind: "number",
		cell: ({ latencyMs }) => latency(latencyMs?.p95),
		sortBy: ({ latencyMs }) => latencyMs?.p95 ?? -1,
	},
];

const latency = (ms: number | undefined) => (ms === undefined ? <span className="quiet">none</span> : duration(ms));

function Upstreams({ rows }: { readonly rows: readonly UpstreamRow[] }) {
	if (rows.length === 0)
		return (
			<Empty title="No upstream is configured">
				Add one to turnpike.yaml, under <code>upstreams</code>, and run <code>npx --no turnpike reload</code>.
			</Empty>
		);
	const columns: readonly Column<UpstreamRow>[] = [
		{
			name: "Upstream",
			cell: ({ name, url }) => (
				<>
					{name}
					<span className="sub break">{url ?? "built-in engine"}</span>
				</>
			),
			sortBy: ({ name }) => name,
		},
		{
			name: "State",
			cell: ({ state, busy, ejections }) => (
				<>
					<UpstreamState state={state} busy={busy} />
					{ejections === 0 ? null : <span className="sub">taken out {count(ejections)} ×</span>}
				</>
			),
			sortBy: ({ state }) => state,
		},
		{
			name: "Running",
			kind: "number",
			cell: ({ running, maxConcurrent }) =>
				maxConcurrent === null ? count(running) : `${count(running)} of ${count(maxConcurrent)}`,
			sortBy: ({ running }) => running,
		},
		...traffic,
		{
			name: "Last fault",
			cell: ({ lastFault, consecutiveFaults }) =>
				lastFault === null ? (
					<span className="quiet">none</span>
				) : (
					<span className="break">
						{lastFault}
						{consecutiveFaults > 1 ? <span className="sub">{count(consecutiveFaults)} in a row</span> : null}
					</span>
				),
		},
		{ name: "Models", kind: "number", cell: ({ models }) => <span title={models.join(", ")}>{count(models.length)}</span> },
		{ name: "Actions", kind: "actions", cell: ({ name }) => <Probe name={name} /> },
	];
	return <Table label="Upstreams" columns={columns} rows={rows} rowKey={({ name }) => name} />;
}

function Probe({ name }: { readonly name: string }) {
	const client = useQueryClient();
	const probe = useMutation({
		mutationFn: () => call<ProbeResult>(`/upstreams/${encodeURIComponent(name)}/probe`, { method: "POST" }),
		onSuccess: ({ alive, tookMs }) => {
			say(alive ? `${name} answered in ${duration(tookMs)}` : `${name} did not answer within ${duration(tookMs)}`);
			return client.invalidateQueries({ queryKey: ["upstreams"] });
		},
		onError: sayFault,
	});
	return (
		<button
			type="button"
			className="button button-small"
			disabled={probe.isPending}
			onClick={() => probe.mutate()}
			aria-label={`${probe.isPending ? "Probing…" : "Probe now"}: ${name}`}
		>
			{probe.isPending ? "Probing…" : "Probe now"}
		</button>
	);
}

const modelColumns: readonly Column<ModelRow>[] = [
	{
		name: "Model",
		cell: ({ id, name }) => (
			<>
				<span className="break">{id}</span>
				{name === id ? null : <span className="sub">{name}</span>}
			</>
		),
		sortBy: ({ id }) => id,
	},
	{ name: "Type", cell: ({ type }) => type, sortBy: ({ type }) => type },
	{
		name: "State",
		cell: ({ online }) => <State tone={online ? "good" : "off"}>{online ? "online" : "offline"}</State>,
		sortBy: ({ online }) => (online ? 0 : 1),
	},
	...traffic,
	{
		name: "Targets",
		cell: ({ targets }) =>
			targets.length === 0 ? (
				<span className="quiet">none</span>
			) : (
				targets.map(({ upstream, model, weight, order }) => (
					<div key={`${upstream} ${model}`} className="target" title={`weight ${weight}, order ${order}`}>
						{upstream} <span className="quiet break">{model}</span>
					</div>
				))
			),
	},
	{
		name: "Traits",
		cell: ({ traits }) =>
			traits.map((trait) => (
				<span key={trait}>
					<span className="tag">{trait}</span>{" "}
				</span>
			)),
	},
];

function Models({ rows }: { readonly rows: readonly ModelRow[] }) {
	const [search, setSearch] = useState("");
	const searchText = search.trim().toLowerCase();
	const matches = rows.filter(({ id, name, type }) => `${id} ${name} ${type}`.toLowerCase().includes(searchText));
	return (
		<>
			<div className="inline-fields">
				<TextField label="Find a model" type="search" value={search} onChange={setSearch} placeholder="Name or type" />
			</div>
			{matches.length === 0 ? (
				<Empty title={rows.length === 0 ? "No models" : "No model matches"} />
			) : (
				<Table label="Models" columns={modelColumns} rows={matches} rowKey={({ id }) => id} />
			)}
		</>
	);
}
