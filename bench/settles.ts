/** Settled requests a second and what they cost, beside one transaction a request: bench/README.md, Settles. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type PostgresCluster, startPostgres } from "../test/support/postgres-cluster.ts";
import { isBusy, machine } from "./machine.ts";
import { writeSection } from "./page.ts";
import { processTree, usageOf } from "./process-accounting.ts";
import { measurePgbench } from "./settles-pgbench.ts";

const { values: options } = parseArgs({
	options: {
		seconds: { type: "string", default: "5" },
		rounds: { type: "string", default: "3" },
		"at-once": { type: "string", default: "256" },
		accounts: { type: "string", default: "1000" },
		dry: { type: "boolean", default: false },
	},
});
const seconds = Number(options.seconds);
const atOnce = Number(options["at-once"]);

const MODES = {
	process: "SQLite, `process`",
	power: "SQLite, `power`",
	store: "PostgreSQL, `store`",
	transactions: "one statement a request",
	pgbench: "one transaction of four statements a request, pgbench",
} as const;
type Mode = keyof typeof MODES;

interface Run {
	readonly perSecond: number;
	/** Of the process with its threads. */
	readonly ownUs: number;
	readonly postgresUs: number;
	/** Settled a second while each account came for the first time, and its money was asked for. */
	readonly firstPerSecond: number;
}

async function measure(cluster: PostgresCluster, mode: Mode, accounts: number): Promise<Run> {
	if (mode === "pgbench") return measurePgbench(cluster, accounts, seconds);
	const folder = mkdtempSync(join(tmpdir(), "turnpike-settles-"));
	const probe = Bun.spawn(
		[
			process.execPath,
			join(import.meta.dir, "settles-probe.ts"),
			...[mode, folder, await cluster.newDatabase(), `${seconds}`, `${atOnce}`, `${accounts}`],
		],
		{ stdout: "pipe", stderr: "inherit" },
	);
	try {
		const postgresMs = (): number => usageOf(processTree(cluster.pid)).cpuMs;
		let beginMs = 0;
		let text = "";
		for await (const chunk of probe.stdout.pipeThrough(new TextDecoderStream())) {
			text += chunk;
			if (beginMs === 0 && text.startsWith("begin\n")) beginMs = postgresMs();
			if (text.endsWith("}\n")) break;
		}
		const postgres = postgresMs() - beginMs;
		const result = JSON.parse(text.slice("begin\n".length)) as {
			settled: number;
			seconds: number;
			cpuMs: number;
			firstPerSecond: number;
		};
		await probe.exited;
		return {
			perSecond: result.settled / result.seconds,
			ownUs: (1_000 * result.cpuMs) / result.settled,
			firstPerSecond: result.firstPerSecond,
			postgresUs: mode === "store" || mode === "transactions" ? (1_000 * postgres) / result.settled : 0,
		};
	} finally {
		probe.kill();
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The round with the median rate: one that other work disturbed does not count. */
function median(runs: readonly Run[]): Run {
	const sorted = [...runs].sort((a, b) => a.perSecond - b.perSecond);
	const middle = sorted[sorted.length >> 1];
	if (middle === undefined) throw new Error("nothing was measured");
	return middle;
}

type Rows = Record<Mode, Run>;

/** The modes in turn, round after round, so that what else the machine does hits all alike. */
async function rounds(cluster: PostgresCluster, accounts: number): Promise<Rows> {
	const runs: Record<Mode, Run[]> = { process: [], power: [], store: [], transactions: [], pgbench: [] };
	for (let round = 0; round < Number(options.rounds); round++) {
		for (const mode of Object.keys(MODES) as Mode[]) {
			const run = await measure(cluster, mode, accounts);
			runs[mode].push(run);
			const cost = `${run.ownUs.toFixed(0)} + ${run.postgresUs.toFixed(0)} us`;
			console.log(`${accounts} accounts, ${MODES[mode]}: ${run.perSecond.toFixed(0)}/s, ${cost}`);
		}
	}
	return {
		process: median(runs.process),
		power: median(runs.power),
		store: median(runs.store),
		transactions: median(runs.transactions),
		pgbench: median(runs.pgbench),
	};
}

const whole = (value: number) => Math.round(value).toLocaleString("en-US");

/** @param cold whether there are enough accounts for a rate of first requests */
function table(rows: Rows, cold: boolean): string {
	const base = rows.pgbench;
	const lines = (Object.keys(MODES) as Mode[]).map((mode) => {
		const { perSecond, ownUs, postgresUs, firstPerSecond } = rows[mode];
		const cpu = ownUs + postgresUs;
		const cells = [
			MODES[mode],
			whole(perSecond),
			`${(perSecond / base.perSecond).toFixed(2)}x`,
			ownUs.toFixed(0),
			postgresUs.toFixed(0),
			`${(cpu / (base.ownUs + base.postgresUs)).toFixed(2)}x`,
			...(cold ? [firstPerSecond === 0 ? "-" : whole(firstPerSecond)] : []),
		];
		return `| ${cells.join(" | ")} |`;
	});
	return [
		`| | settled/s | to pgbench | CPU us, process | CPU us, PostgreSQL | CPU to pgbench |${cold ? " cold/s |" : ""}`,
		`| --- | ---: | ---: | ---: | ---: | ---: |${cold ? " ---: |" : ""}`,
		...lines,
	].join("\n");
}

const here = machine();
// As an operator runs it: a commit waits for the disk, ours and theirs.
const cluster = await startPostgres({ fsync: "on" });
try {
	const many = await rounds(cluster, Number(options.accounts));
	const one = await rounds(cluster, 1);
	const busy = isBusy(here)
		? ` **The machine was busy with other work (load average ${here.loadBefore.toFixed(1)} before the run): the ratios say more than the rates.**`
		: "";
	const section = `## Settled requests

Written by \`bun bench/settles.ts\`. ${here.date}, commit ${here.commit}; ${here.processor}, ${here.cores} cores. A request holds a worst case,
posts a price of two lines and waits until it is durable; ${atOnce} at once, in one process, PostgreSQL on the same cores, its
commits waiting for the disk (\`fsync\`); the median of ${options.rounds} rounds of ${seconds} s. Beside them is what a service without a journal does on the same
PostgreSQL, over 16 connections. The usual way is one transaction of four statements: take the price from the balance, write the post, write its two
lines, add to the sums by day (\`bench/settles-pgbench.ts\`, run by pgbench with prepared statements). The least is one statement that takes
the price and writes post and lines (no sums by day, no foreign keys, fewer indexes). Neither has a hold, a limit or entry numbers. \`cold/s\`: the rate of the first requests, one for each account, which read a key and ask for
money.${busy}

### ${Number(options.accounts).toLocaleString("en-US")} accounts

${table(many, true)}

### One account

${table(one, false)}
`;
	if (options.dry) console.log(section);
	else writeSection(section);
} finally {
	await cluster.stop();
}
