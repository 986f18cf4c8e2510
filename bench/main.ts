/** The order of the measurements. One run measures every target in turn on the same machine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureEventLoopLag } from "./event-loop-lag.ts";
import { faultsOf, type Measurement, measure } from "./load.ts";
import { isBusy, machine } from "./machine.ts";
import { measureMemory } from "./memory.ts";
import { writePage } from "./page.ts";
import {
	BUILD,
	buildGoPrograms,
	goVersion,
	nginxVersion,
	startGoProxy,
	startNginx,
	startTurnpike,
	startUpstream,
	type Target,
} from "./peers.ts";
import { processTree, usageOf } from "./process-accounting.ts";
import { type Results, report } from "./report.ts";
import { measureTokenCount } from "./token-count.ts";

const { values: options } = parseArgs({
	options: {
		seconds: { type: "string", default: "8" },
		only: { type: "string" },
		memory: { type: "boolean", default: false },
		dry: { type: "boolean", default: false },
	},
});
const seconds = Number(options.seconds);
/** Pause between two events of the paced streams: long enough that no two arrive in one read. */
const PACE_MS = 10;
/** Many conversations at once, each as fast as a person reads. */
const CROWD = { clients: 1_000, paceMs: 100, requests: 3_000, seconds: 60 };

async function startAll(folder: string, upstream: Target): Promise<Target[]> {
	const wanted = (name: string) => options.only === undefined || name.toLowerCase().startsWith(options.only.toLowerCase());
	const nginx = nginxVersion();
	const targets: Target[] = [upstream];
	if (nginx === null) console.error("nginx is missing (Debian: apt-get install nginx): measuring without it");
	else if (wanted("nginx")) targets.push(await startNginx(folder, upstream, nginx));
	if (wanted("go")) targets.push(await startGoProxy(folder, upstream, goVersion() ?? ""));
	if (wanted("turnpike")) targets.push(await startTurnpike(folder, upstream, `Bun ${Bun.version}`));
	return targets;
}

/** Resident memory of the last process of a target's tree: the server behind its launcher. */
function serverRssMb(target: Target): number {
	return usageOf(processTree(target.pid).slice(-1)).rssMb;
}

/** A peer may lose a few of its answers (Go's proxy does, to a race of its own); we may lose none. */
const peerFaults = (answers: number) => Math.max(5, answers / 1_000);

/** Measures each target in turn; wrong answers fail the run: figures of errors are worth nothing. */
async function measureEach(title: string, targets: readonly Target[], load: Parameters<typeof measure>[1]) {
	const rows: Record<string, Measurement> = {};
	for (const target of targets) {
		const row = await measure(target, load);
		if (faultsOf(row) > (target.isPeer ? peerFaults(row.answers) : 0)) {
			throw new Error(`${title}, ${target.name}: ${JSON.stringify(row.errors)}`);
		}
		console.log(
			`${title}, ${target.name}: ${Math.round(row.perSecond)}/s, p50 ${row.wholeMs.p50} ms, p99 ${row.wholeMs.p99} ms, ` +
				`${row.cpuUs.toFixed(1)} us CPU, ${Math.round(row.rssMb)} MB`,
		);
		rows[target.name] = row;
	}
	return rows;
}

async function run(folder: string, running: Target[]): Promise<Results> {
	buildGoPrograms();
	const upstream = await startUpstream(folder, 0);
	running.push(upstream);
	const fast = await startAll(folder, upstream);
	running.push(...fast.slice(1));
	const idleMb = serverRssMb(fast.at(-1) ?? upstream);
	const one = await measureEach("unary, 1 client", fast, { clients: 1, seconds });
	const many = await measureEach("unary, 64 clients", fast, { clients: 64, seconds });
	const streams = await measureEach("streams, 32 clients", fast, { clients: 32, seconds, stream: true });
	const turnpike = fast.find((target) => target.name === "Turnpike");
	const serverMb = turnpike === undefined ? null : { idle: idleMb, afterLoad: serverRssMb(turnpike) };
	const memory = options.memory && turnpike !== undefined ? await measureMemory(turnpike) : null;
	for (const target of running.splice(0)) await target.stop();

	const slow = await startUpstream(folder, PACE_MS);
	running.push(slow);
	const pacedTargets = await startAll(folder, slow);
	running.push(...pacedTargets.slice(1));
	const paced = await measureEach("paced streams, 32 clients", pacedTargets, { clients: 32, seconds, stream: true });
	for (const target of running.splice(0)) await target.stop();

	const read = await startUpstream(folder, CROWD.paceMs);
	running.push(read);
	const crowdTargets = await startAll(folder, read);
	running.push(...crowdTargets.slice(1));
	const startMb = Object.fromEntries(crowdTargets.map((target) => [target.name, usageOf(processTree(target.pid)).rssMb]));
	const { clients, requests } = CROWD;
	const crowd = await measureEach("1,000 streams at once", crowdTargets, {
		clients,
		requests,
		seconds: CROWD.seconds,
		stream: true,
	});
	return {
		machine: machine(),
		targets: pacedTargets.map(({ name, version, startMs }) => ({ name, version, startMs })),
		paceMs: PACE_MS,
		seconds,
		one,
		many,
		streams,
		paced,
		crowd: { ...CROWD, rows: crowd, startMb },
		serverMb,
		memory,
		tokens: await measureTokenCount(seconds),
		lag: await measureEventLoopLag(folder, seconds),
	};
}

const folder = mkdtempSync(join(tmpdir(), "turnpike-bench-"));
const running: Target[] = [];
if (isBusy(machine()))
	console.error("This machine is busy with other work: the figures will be worth little, and the page will say so.");
try {
	const results = await run(folder, running);
	mkdirSync(BUILD, { recursive: true });
	writeFileSync(join(BUILD, "results.json"), `${JSON.stringify(results, null, "\t")}\n`);
	const page = report(results);
	if (options.dry) console.log(page);
	else writePage(page);
} finally {
	for (const target of running) await target.stop();
	rmSync(folder, { recursive: true, force: true });
}
