/** The results as the page docs/benchmarks.md: the machine, the tables, the goals and what became of them. */
import type { Delay, LagRun } from "./event-loop-lag.ts";
import { faultsOf, type Measurement } from "./load.ts";
import { isBusy, type Machine } from "./machine.ts";
import type { MemoryRun } from "./memory.ts";
import type { TokenRun } from "./token-count.ts";

export type Rows = Readonly<Record<string, Measurement>>;

export interface Results {
	readonly machine: Machine;
	readonly targets: readonly { readonly name: string; readonly version: string; readonly startMs: number }[];
	readonly seconds: number;
	/** Pause between two events of the paced streams. */
	readonly paceMs: number;
	readonly one: Rows;
	readonly many: Rows;
	readonly streams: Rows;
	readonly paced: Rows;
	/** Many slow streams at once. */
	readonly crowd: {
		readonly clients: number;
		readonly paceMs: number;
		readonly rows: Rows;
		/** Resident memory before, by target. */
		readonly startMb: Readonly<Record<string, number>>;
	};
	/** Of Turnpike's server process alone, without what starts it. */
	readonly serverMb: { readonly idle: number; readonly afterLoad: number } | null;
	readonly memory: MemoryRun | null;
	readonly tokens: TokenRun;
	readonly lag: LagRun | null;
}

const NGINX = "nginx proxy_pass";
const GO = "Go ReverseProxy";
const OURS = "Turnpike";
/** The scripted stream: 50 content events, then the finish, the usage and the end in one write. */
const CHUNKS = 51;

/** Which targets answered wrong, and how often. */
function faultLines(results: Results): string {
	const stages = [results.one, results.many, results.streams, results.paced, results.crowd.rows];
	const lines = stages.flatMap((rows) =>
		Object.entries(rows)
			.filter(([, row]) => faultsOf(row) > 0)
			.map(([name, row]) => `${name}: ${faultsOf(row)} of ${whole(row.answers + faultsOf(row))} answers were cut off or wrong.`),
	);
	return lines.length === 0 ? "Every answer was whole and right." : lines.join("\n");
}

const whole = (value: number) => Math.round(value).toLocaleString("en-US");
const fixed = (digits: number) => (value: number) => value.toFixed(digits);

type Column = readonly [title: string, of: (row: Measurement) => string];

function table(rows: Rows, columns: readonly Column[]): string {
	const lines = [
		["", ...columns.map(([title]) => title)],
		["---", ...columns.map(() => "---:")],
	];
	for (const [name, row] of Object.entries(rows)) lines.push([name, ...columns.map(([, of]) => of(row))]);
	return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

interface Goal {
	readonly what: string;
	readonly goal: string;
	readonly measured: string;
	readonly met: boolean;
}

function ratio(what: string, ours: number | undefined, theirs: number | undefined, limit: number, atMost: boolean): Goal[] {
	if (ours === undefined || theirs === undefined) return [];
	const value = ours / theirs;
	const goal = `${atMost ? "at most" : "at least"} ${limit}x`;
	return [{ what, goal, measured: `${value.toFixed(2)}x`, met: atMost ? value <= limit : value >= limit }];
}

function below(what: string, value: number | undefined, limit: number, unit: string): Goal[] {
	if (value === undefined) return [];
	return [{ what, goal: `below ${limit} ${unit}`, measured: `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`, met: value < limit }];
}

function goals(results: Results): Goal[] {
	const { one, many, streams, paced, targets, serverMb, memory, lag } = results;
	const alone = one["upstream alone"]?.wholeMs.p50 ?? 0;
	const added = one[OURS] === undefined ? undefined : one[OURS].wholeMs.p50 - alone;
	const growth = memory === null ? undefined : (memory.rssMb.at(-1) ?? 0) - (memory.rssMb[memory.rssMb.length >> 1] ?? 0);
	return [
		...ratio("Unary, CPU per request, to the Go proxy", many[OURS]?.cpuUs, many[GO]?.cpuUs, 0.7, true),
		...ratio("Unary, CPU per request, to nginx", many[OURS]?.cpuUs, many[NGINX]?.cpuUs, 4, true),
		...ratio("Unary, requests a second at 64 clients, to nginx", many[OURS]?.perSecond, many[NGINX]?.perSecond, 0.4, false),
		...below("Unary, added to the median at 1 client", added, 0.4, "ms"),
		...ratio("Streams a second at 32 clients, to nginx", streams[OURS]?.perSecond, streams[NGINX]?.perSecond, 0.6, false),
		...ratio("Paced streams, CPU per chunk, to nginx", paced[OURS]?.cpuUs, paced[NGINX]?.cpuUs, 2.5, true),
		...below("First chunk at the client before the upstream's second, p99", paced[OURS]?.firstMs.p99, results.paceMs, "ms"),
		...below("From start to ready, with the launcher", targets.find(({ name }) => name === OURS)?.startMs, 1_000, "ms"),
		...below("Memory of the server before load", serverMb?.idle, 80, "MB"),
		...below("Growth over the second half of 200,000 requests", growth, 10, "MB"),
		...below(
			"Event loop p99, added by 2,000 posts a second",
			lag === null ? undefined : lag.withLedger.p99 - lag.withoutLedger.p99,
			2,
			"ms",
		),
	];
}

function goalTable(rows: readonly Goal[]): string {
	const lines = rows.map(
		({ what, goal, measured, met }) => `| ${what} | ${goal} | ${measured} | ${met ? "met" : "**missed**"} |`,
	);
	return ["| What | Goal | Measured | |", "| --- | --- | ---: | --- |", ...lines].join("\n");
}

const LATENCY: readonly Column[] = [
	["p50 ms", (row) => fixed(3)(row.wholeMs.p50)],
	["p99 ms", (row) => fixed(3)(row.wholeMs.p99)],
];
const MEMORY: readonly Column[] = [
	["MB after", (row) => whole(row.rssMb)],
	["MB peak", (row) => whole(row.peakMb)],
];

function crowdSection({ clients, paceMs, rows, startMb }: Results["crowd"]): string {
	const grown = Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row.peakMb - (startMb[name] ?? 0)]));
	const columns: readonly Column[] = [
		["CPU us/chunk", (row) => fixed(1)(row.cpuUs / CHUNKS)],
		["first chunk p50 ms", (row) => fixed(1)(row.firstMs.p50)],
		["first chunk p99 ms", (row) => fixed(1)(row.firstMs.p99)],
		...MEMORY,
	];
	const each = Object.entries(grown).map(([name, mb]) => `${name} ${whole((mb * 1_000) / clients)} KB`);
	return `## Chat, ${whole(clients)} streams at once, a chunk each ${paceMs} ms

${table(rows, columns)}

At its peak above its memory before, by the stream: ${each.join(", ")}.`;
}

function tokenSection({ tokensPerSecond, textsPerSecond, characters }: TokenRun): string {
	return `## Counting tokens

Where an upstream tells no usage: ${whole(tokensPerSecond)} tokens a second of mixed prose (${whole(textsPerSecond)} texts of ${whole(characters)} characters), in the counter's own process.`;
}

/** The whole page. */
export function report(results: Results): string {
	const { machine } = results;
	const versions = results.targets.filter(({ version }) => version !== "").map(({ name, version }) => `${name} ${version}`);
	const parts = [
		`# Benchmarks

Written by \`npm run bench\`; a run replaces this page. How it measures: [bench/README.md](../bench/README.md).

${machine.date}, commit ${machine.commit}. ${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB; ${machine.system}.
${versions.join("; ")}. Load, upstream and target share the same cores; ${results.seconds} s each after warming up.
${faultLines(results)}${isBusy(machine) ? `\n\n**The machine was busy with other work (load average ${machine.loadBefore.toFixed(1)} before the run).**` : ""}`,
		`## Goals\n\n${goalTable(goals(results))}`,
		`## Chat, unary, 1 client\n\n${table(results.one, LATENCY)}`,
		`## Chat, unary, 64 clients\n\n${table(results.many, [
			["requests/s", (row) => whole(row.perSecond)],
			["CPU us/request", (row) => fixed(1)(row.cpuUs)],
			...LATENCY,
			...MEMORY,
		])}`,
		`## Chat, streams of 50 chunks as fast as they come, 32 clients\n\n${table(results.streams, [
			["streams/s", (row) => whole(row.perSecond)],
			["CPU us/stream", (row) => fixed(0)(row.cpuUs)],
			...LATENCY,
			...MEMORY,
		])}`,
		`## Chat, streams of 50 chunks, one each ${results.paceMs} ms, 32 clients\n\n${table(results.paced, [
			["streams/s", (row) => fixed(1)(row.perSecond)],
			["CPU us/chunk", (row) => fixed(1)(row.cpuUs / CHUNKS)],
			["first chunk p50 ms", (row) => fixed(3)(row.firstMs.p50)],
			["first chunk p99 ms", (row) => fixed(3)(row.firstMs.p99)],
			...MEMORY,
		])}`,
	];
	parts.push(crowdSection(results.crowd), tokenSection(results.tokens));
	if (results.serverMb !== null) {
		const { idle, afterLoad } = results.serverMb;
		parts.push(`## Memory of the server process\n\nBefore load ${whole(idle)} MB, after it ${whole(afterLoad)} MB.`);
	}
	if (results.memory !== null) {
		const steps = results.memory.rssMb.map(whole).join(", ");
		parts.push(`${whole(results.memory.requests)} requests, MB after each tenth of them: ${steps} (the launcher included).`);
	}
	if (results.lag !== null) {
		const row = (name: string, { p50, p99, max }: Delay) => `| ${name} | ${[p50, p99, max].map(fixed(2)).join(" | ")} |`;
		parts.push(
			[
				`## Event loop at ${whole(results.lag.postsPerSecond)} posts a second on ${whole(results.lag.accounts)} accounts, delay of a timer\n`,
				"| | p50 ms | p99 ms | max ms |",
				"| --- | ---: | ---: | ---: |",
				row("without the ledger", results.lag.withoutLedger),
				row("with the ledger", results.lag.withLedger),
			].join("\n"),
		);
	}
	return `${parts.join("\n\n")}\n`;
}
