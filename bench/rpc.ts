/** The chain proxy beside nginx and a Go reverse proxy, in one run: bench/README.md, Chain calls. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { faultsOf, type Measurement, measure } from "./load.ts";
import { machine } from "./machine.ts";
import { writeSection } from "./page.ts";
import { peakMbSince, resetPeak } from "./peak-memory.ts";
import {
	BUILD,
	buildGoPrograms,
	freePort,
	goVersion,
	nginxVersion,
	ROOT,
	start,
	startGoProxy,
	startNginx,
	type Target,
} from "./peers.ts";
import { processTree } from "./process-accounting.ts";
import { CALLS, type CallResult, type RpcResults, rpcReport } from "./rpc-report.ts";

const { values: options } = parseArgs({
	options: {
		seconds: { type: "string", default: "5" },
		rounds: { type: "string", default: "3" },
		dry: { type: "boolean", default: false },
	},
});
const seconds = Number(options.seconds);
const rounds = Number(options.rounds);

async function startNode(folder: string): Promise<Target> {
	const port = await freePort();
	return start({
		name: "node alone",
		command: [join(BUILD, "rpc-upstream"), "-listen", `127.0.0.1:${port}`],
		port,
		version: "",
		path: "/",
		env: { GOMAXPROCS: "1" },
		log: join(folder, "node.log"),
	});
}

/** Turnpike as an operator starts it, with a key that has money and limits that do not bite. */
async function startTurnpike(folder: string, node: Target): Promise<Target> {
	const port = await freePort();
	const home = join(folder, "turnpike");
	mkdirSync(home, { recursive: true });
	const config = join(home, "turnpike.yaml");
	const many = { requestsPerMinute: 1_000_000_000, creditsPerDay: 1_000_000_000_000 };
	writeFileSync(
		config,
		JSON.stringify({
			accounts: { startingCreditUsd: "1000000" },
			log: { level: "warn" },
			rpc: {
				networks: { "ethereum-mainnet": { upstreams: [{ url: `http://${node.address}` }] } },
				limits: { paid: many, staff: many },
			},
		}),
	);
	const key = `bench-${crypto.randomUUID()}`;
	return start({
		name: "Turnpike",
		command: ["node", join(ROOT, "start.mjs"), "--port", String(port), "--data", join(home, "data"), "--config", config],
		port,
		version: `Bun ${Bun.version}`,
		path: "/api/v1/crypto/rpc/ethereum-mainnet",
		readyPath: "/readyz",
		key,
		env: { TURNPIKE_ADMIN_KEY: key },
		log: join(home, "out.log"),
	});
}

interface Counts {
	readonly requests: number;
	readonly items: number;
}

const countsOf = async (node: Target): Promise<Counts> =>
	(await fetch(`http://${node.address}/counts`)).json() as Promise<Counts>;

/** Measures each target in turn, round after round; wrong answers fail the run. */
async function measureAll(targets: readonly Target[], node: Target): Promise<Record<string, Record<string, CallResult>>> {
	const results: Record<string, Record<string, CallResult[]>> = {};
	for (let round = 0; round < rounds; round++) {
		for (const { name, rpc, clients } of CALLS) {
			for (const target of targets) {
				// The warm-up stays out of the counts.
				await measure(target, { clients, seconds: round === 0 ? 3 : 0.5, requests: Number.MAX_SAFE_INTEGER, rpc });
				const before = await countsOf(node);
				const row = await measure(target, { clients, seconds, requests: Number.MAX_SAFE_INTEGER, rpc });
				const after = await countsOf(node);
				if (faultsOf(row) > (target.isPeer ? Math.max(5, row.answers / 1_000) : 0))
					throw new Error(`${name}, ${target.name}: ${JSON.stringify(row.errors)}`);
				const upstream = (after.requests - before.requests) / Math.max(1, row.answers);
				console.log(
					`${name}, ${target.name}: ${Math.round(row.perSecond)}/s, p50 ${row.wholeMs.p50} ms, ${row.cpuUs.toFixed(1)} us CPU, ` +
						`${upstream.toFixed(3)} upstream requests`,
				);
				results[name] ??= {};
				results[name][target.name] ??= [];
				results[name][target.name]?.push({ row, upstream });
			}
		}
	}
	const middle = (rows: readonly CallResult[]): CallResult | undefined =>
		rows.toSorted((a, b) => a.row.cpuUs - b.row.cpuUs)[rows.length >> 1];
	return Object.fromEntries(
		Object.entries(results).map(([name, byTarget]) => [
			name,
			Object.fromEntries(
				Object.entries(byTarget).flatMap(([target, rows]) => {
					const row = middle(rows);
					return row === undefined ? [] : [[target, row]];
				}),
			),
		]),
	);
}

/** How far the server's memory rises above where it was over an answer of 50 MB, and how long that takes. */
async function measureBig(targets: readonly Target[]) {
	const rows: Record<string, { readonly growthMb: number; readonly row: Measurement }> = {};
	for (const target of targets) {
		const server = processTree(target.pid).at(-1) ?? target.pid;
		// The first one of a process warms its code and its buffers up.
		await measure(target, { clients: 1, seconds: 60, requests: 2, rpc: "logs" });
		const baseMb = resetPeak(server);
		const row = await measure(target, { clients: 1, seconds: 60, requests: 3, rpc: "logs" });
		if (faultsOf(row) > 0) {
			if (!target.isPeer) throw new Error(`50 MB, ${target.name}: ${JSON.stringify(row.errors)}`);
			console.log(`50 MB, ${target.name}: cut off ${faultsOf(row)} of 3`);
			if (row.answers === 0) continue;
		}
		rows[target.name] = { growthMb: peakMbSince(server, baseMb), row };
		console.log(`50 MB, ${target.name}: ${rows[target.name]?.growthMb.toFixed(1)} MB more, ${row.wholeMs.p50} ms`);
	}
	return rows;
}

const folder = mkdtempSync(join(tmpdir(), "turnpike-bench-rpc-"));
const running: Target[] = [];
try {
	buildGoPrograms();
	const node = await startNode(folder);
	running.push(node);
	const nginx = nginxVersion();
	if (nginx === null) console.error("nginx is missing (Debian: apt-get install nginx): measuring without it");
	else running.push({ ...(await startNginx(folder, node, nginx)), path: "/" });
	running.push({ ...(await startGoProxy(folder, node, goVersion() ?? "")), path: "/" });
	running.push(await startTurnpike(folder, node));
	const results: RpcResults = {
		machine: machine(),
		seconds,
		rounds,
		versions: running.filter(({ version }) => version !== "").map(({ name, version }) => `${name} ${version}`),
		calls: await measureAll(running, node),
		big: await measureBig(running),
	};
	const section = rpcReport(results);
	if (options.dry) console.log(section);
	else writeSection(section);
} finally {
	for (const target of running.toReversed()) await target.stop();
	rmSync(folder, { recursive: true, force: true });
}
