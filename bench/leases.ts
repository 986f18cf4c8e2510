/** Simulates many nodes of the lease protocol and tells what it cost them: bench/README.md, Leases. */
import { parseArgs } from "node:util";
import { ALL_FAULTS, FAILOVERS, NO_FAULTS, type Scenario, USUAL_LATENCY } from "../test/simulation/scenario.ts";
import { simulate } from "../test/simulation/simulate.ts";

const { values: options } = parseArgs({
	options: {
		seed: { type: "string", default: "1" },
		nodes: { type: "string", default: "50" },
		accounts: { type: "string", default: "1000000" },
		rate: { type: "string", default: "1000" },
		seconds: { type: "string", default: "120" },
		faults: { type: "string", default: "all" },
		limited: { type: "string", default: "0" },
	},
});

const FAULTS = { none: NO_FAULTS, all: ALL_FAULTS, failovers: FAILOVERS };
const faults = FAULTS[options.faults as keyof typeof FAULTS];
if (faults === undefined) throw new Error("--faults: none, all or failovers");

const nodes = Number(options.nodes);
const scenario: Scenario = {
	seed: Number(options.seed),
	nodes,
	accounts: Number(options.accounts),
	requestsPerSecond: Number(options.rate),
	loadMs: Number(options.seconds) * 1_000,
	termMs: 30_000,
	// So that all nodes together stay within two gigabytes.
	maxCallersPerNode: Math.floor(50_000 / nodes),
	workMs: 400,
	latency: USUAL_LATENCY,
	noticeLoss: 0,
	faults,
	limitedKeys: Number(options.limited),
	mostEarlyRefusals: 1,
};

const startedMs = performance.now();
const { findings, commits, ...report } = simulate(scenario);
const tookSeconds = (performance.now() - startedMs) / 1_000;
const share = (count: number) => `${count} (${((100 * count) / report.requests).toFixed(3)} %)`;

console.log(
	`${nodes} nodes, ${scenario.accounts} accounts, faults: ${options.faults}, seed ${scenario.seed}, trace ${report.trace}`,
);
console.log(`requests               ${report.requests}, of them held ${report.held}, booked ${report.posts}`);
console.log(`refused for money      ${share(report.refused)}; early ${share(report.earlyRefusals)}`);
console.log(`refused by limits      ${share(report.limited)}`);
console.log(`turned away with 503   ${share(report.unavailable)}`);
console.log(`charged                ${report.chargedUsd.toFixed(6)} USD`);
console.log(`spent past the money   ${report.overrunUsd.toFixed(6)} USD; the bound was ${report.overrunBoundUsd.toFixed(6)} USD`);
console.log(`terms ended            ${report.fences}; leases lost in failovers ${report.lostLeaseCommits}`);
console.log(
	`acquires a request     ${report.acquiresPerRequest.toFixed(3)}; returns ${report.returnsPerRequest.toFixed(3)}; all trips ${report.tripsPerRequest.toFixed(3)}`,
);
console.log(
	`commits a second       ${report.commitsPerSecond.toFixed(0)}; rows written ${report.rowsWrittenPerSecond.toFixed(0)}`,
);
console.log(`commits by kind        ${JSON.stringify(commits)}`);
const rssMb = process.memoryUsage.rss() / 2 ** 20;
console.log(`took                   ${tookSeconds.toFixed(1)} s for ${report.events} events, ${rssMb.toFixed(0)} MB`);
for (const finding of findings) console.log(`BROKEN                 ${finding}`);
process.exitCode = findings.length > 0 ? 1 : 0;
