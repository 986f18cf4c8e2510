import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { NetworkRow, NetworkUpstream } from "../../../src/routes/console/types.ts";
import { queries } from "../api/queries.ts";
import { bytes, count, percent } from "../format/quantity.ts";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Figure, Figures, Page, Section } from "../parts/page.tsx";
import { State, UpstreamState } from "../parts/state.tsx";
import { type Column, Table } from "../parts/table.tsx";

const block = (number: number | null) => (number === null ? <span className="quiet">unknown</span> : count(number));

const networkColumns: readonly Column<NetworkRow>[] = [
	{
		name: "Network",
		cell: ({ network, name }) => (
			<>
				{name}
				<span className="sub mono">{network}</span>
			</>
		),
		sortBy: ({ name }) => name,
	},
	{
		name: "State",
		cell: ({ online }) => <State tone={online ? "good" : "off"}>{online ? "online" : "offline"}</State>,
		sortBy: ({ online }) => (online ? 0 : 1),
	},
	{ name: "Head", kind: "number", cell: ({ head }) => block(head), sortBy: ({ head }) => head ?? -1 },
	{ name: "Final", kind: "number", cell: ({ finalBlock }) => block(finalBlock) },
	{
		name: "Upstreams",
		kind: "number",
		cell: ({ upstreams }) => count(upstreams.length),
		sortBy: ({ upstreams }) => upstreams.length,
	},
	{
		name: "Credits today (UTC)",
		kind: "number",
		cell: ({ creditsToday }) => count(creditsToday),
		sortBy: ({ creditsToday }) => creditsToday,
	},
];

type PlacedUpstream = NetworkUpstream & { readonly network: string };

const upstreamColumns: readonly Column<PlacedUpstream>[] = [
	{
		name: "Upstream",
		cell: ({ name, origin, isPublic }) => (
			<>
				{name} {isPublic ? <span className="tag">public</span> : null}
				<span className="sub break">{origin}</span>
			</>
		),
		sortBy: ({ name }) => name,
	},
	{ name: "Network", cell: ({ network }) => network, sortBy: ({ network }) => network },
	{ name: "State", cell: ({ state, busy }) => <UpstreamState state={state} busy={busy} />, sortBy: ({ state }) => state },
	{ name: "Newest block", kind: "number", cell: ({ reached }) => block(reached) },
	{
		name: "Blocks behind",
		kind: "number",
		cell: ({ lag }) => (lag === null ? <span className="quiet">unknown</span> : count(lag)),
		sortBy: ({ lag }) => lag ?? -1,
	},
	{
		name: "Running",
		kind: "number",
		cell: ({ running, maxConcurrent }) =>
			maxConcurrent === null ? count(running) : `${count(running)} of ${count(maxConcurrent)}`,
	},
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
];

/** The networks of the chain proxy, their nodes' newest blocks, and the cache's savings. */
export function ChainsPage(): ReactNode {
	const query = useQuery(queries.networks());
	return (
		<Page title="Chains" says="JSON-RPC networks as this node sees them.">
			<Loaded query={query}>
				{({ networks, cache }) => {
					const upstreams = networks.flatMap((network) =>
						network.upstreams.map((each) => ({ ...each, network: network.network })),
					);
					return (
						<>
							<Section title="Cache of final answers">
								<Figures>
									<Figure name="Hit ratio">
										{cache.hitRatio === null ? <span className="quiet">no calls</span> : percent(cache.hitRatio)}
									</Figure>
									<Figure name="Hits">{count(cache.hits)}</Figure>
									<Figure name="Misses">{count(cache.misses)}</Figure>
									<Figure name="Shared with a running call">{count(cache.shared)}</Figure>
									<Figure name="Answers in the cache" note={bytes(cache.bytes)}>
										{count(cache.entries)}
									</Figure>
								</Figures>
							</Section>
							<Section title="Networks">
								{networks.length === 0 ? (
									<Empty title="No network" />
								) : (
									<Table label="Networks" columns={networkColumns} rows={networks} rowKey={({ network }) => network} />
								)}
							</Section>
							<Section title="Nodes">
								{upstreams.length === 0 ? (
									<Empty title="No node is configured">
										Add one to turnpike.yaml, under <code>rpc</code>. Until then the networks answer with 503.
									</Empty>
								) : (
									<Table
										label="Nodes"
										columns={upstreamColumns}
										rows={upstreams}
										rowKey={({ network, name }) => `${network} ${name}`}
									/>
								)}
							</Section>
						</>
					);
				}}
			</Loaded>
		</Page>
	);
}
