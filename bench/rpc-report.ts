/** The section "Chain calls" of docs/benchmarks.md. */
import type { Measurement } from "./load.ts";
import { isBusy, type Machine } from "./machine.ts";

/** What is asked for; the names stand in the page. */
export const CALLS = [
	{ name: "Single eth_call, 1 client", rpc: "call", clients: 1 },
	{ name: "Single eth_call, 64 clients", rpc: "call", clients: 64 },
	{ name: "Final block by number, 64 clients", rpc: "block", clients: 64 },
	{ name: "Batches of 20 eth_call, 32 clients", rpc: "batch", clients: 32 },
] as const;

export interface CallResult {
	readonly row: Measurement;
	/** Requests that reached the node for one answer. */
	readonly upstream: number;
}

export interface RpcResults {
	readonly machine: Machine;
	readonly seconds: number;
	readonly rounds: number;
	readonly versions: readonly string[];
	/** By call, then by target: the round in the middle by CPU. */
	readonly calls: Readonly<Record<string, Readonly<Record<string, CallResult>>>>;
	readonly big: Readonly<Record<string, { readonly growthMb: number; readonly row: Measurement }>>;
}

const GO = "Go ReverseProxy";
const OURS = "Turnpike";
const ITEMS = 20;
const MOST_GROWTH_MB = 20;

const whole = (value: number) => Math.round(value).toLocaleString("en-US");

function callTable(name: string, rows: Readonly<Record<string, CallResult>>): string {
	const isBatch = name.startsWith("Batches");
	const go = rows[GO]?.row.cpuUs;
	const head = ["", isBatch ? "items/s" : "requests/s", "CPU us/request", "CPU to Go's", "p50 ms", "p99 ms", "node requests"];
	const lines = [head, head.map((_, index) => (index === 0 ? "---" : "---:"))];
	for (const [target, { row, upstream }] of Object.entries(rows))
		lines.push([
			target,
			whole(row.perSecond * (isBatch ? ITEMS : 1)),
			row.cpuUs.toFixed(1),
			go === undefined ? "" : `${(row.cpuUs / go).toFixed(2)}x`,
			row.wholeMs.p50.toFixed(3),
			row.wholeMs.p99.toFixed(3),
			upstream.toFixed(3),
		]);
	return `### ${name}\n\n${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}`;
}

function bigTable(big: RpcResults["big"]): string {
	const lines = Object.entries(big).map(
		([target, { growthMb, row }]) =>
			`| ${target} | ${growthMb.toFixed(1)} | ${row.wholeMs.p50.toFixed(0)} | ${(row.cpuUs / 1_000).toFixed(0)} |`,
	);
	const growth = big[OURS]?.growthMb;
	const verdict =
		growth === undefined ? "" : ` Goal: below ${MOST_GROWTH_MB} MB: ${growth < MOST_GROWTH_MB ? "met" : "**missed**"}.`;
	return `### An answer of 50 MB to eth_getLogs

Highest memory of the server over three of them, above what it held before.${verdict}

| | MB more | p50 ms | CPU ms |
| --- | ---: | ---: | ---: |
${lines.join("\n")}`;
}

export function rpcReport({ machine, seconds, rounds, versions, calls, big }: RpcResults): string {
	const busy = isBusy(machine)
		? `\n\n**The machine was busy with other work (load average ${machine.loadBefore.toFixed(1)} before the run): only ratios within the run say something.**`
		: "";
	return [
		"## Chain calls",
		`Written by \`bench/rpc.ts\`: [bench/README.md](../bench/README.md#chain-calls). ${machine.date}, commit ${machine.commit}. ${machine.processor}, ${machine.cores} cores. ${versions.join("; ")}. Targets take turns, ${rounds} rounds of ${seconds} s; the round in the middle by CPU. Load, node and target share the cores. The proxies beside it pass bytes; Turnpike's figures are of the whole road, with the caller, limits, hold, checks of each item, price and a durable post.${busy}`,
		...Object.entries(calls).map(([name, rows]) => callTable(name, rows)),
		bigTable(big),
	].join("\n\n");
}
