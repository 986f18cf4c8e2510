/** How long a proof of the books takes by the size of the store, on both stores: bench/README.md, Audits. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/support/postgres-cluster.ts";
import { fillPostgres, fillStore, type StoreSize } from "./large-store.ts";
import { isBusy, machine } from "./machine.ts";
import { writeSection } from "./page.ts";
import { processTree, usageOf } from "./process-accounting.ts";

const { values: options } = parseArgs({
	options: {
		posts: { type: "string", default: "10000,100000,1000000,3000000" },
		dry: { type: "boolean", default: false },
	},
});

interface Proof {
	readonly seconds: number;
	/** Highest resident memory of the command. */
	readonly megabytes: number;
	/** CPU of PostgreSQL. */
	readonly postgresSeconds: number;
}

/** One account for 15 posts, as in a store of 200,000 accounts and 3 million posts. */
const sizeOf = (posts: number): StoreSize => ({
	accounts: Math.ceil(posts / 15),
	keys: Math.ceil(posts / 10),
	posts,
});

/** Runs `turnpike audit`. Throws where the books do not balance. */
async function prove(config: object, postgresPid: number | null): Promise<Proof> {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-audits-"));
	const file = join(folder, "turnpike.yaml");
	writeFileSync(file, JSON.stringify(config));
	const postgresMs = () => (postgresPid === null ? 0 : usageOf(processTree(postgresPid)).cpuMs);
	const before = postgresMs();
	const started = performance.now();
	const main = join(import.meta.dir, "../src/main.ts");
	const child = Bun.spawn([process.execPath, main, "audit", "--config", file], { stdout: "pipe", stderr: "inherit" });
	let megabytes = 0;
	// Not the child's own report: that begins with the memory of this process.
	const watch = setInterval(() => {
		megabytes = Math.max(megabytes, usageOf([child.pid]).peakMb);
	}, 20);
	const output = await new Response(child.stdout).text();
	const code = await child.exited;
	clearInterval(watch);
	const seconds = (performance.now() - started) / 1_000;
	rmSync(folder, { recursive: true, force: true });
	if (code !== 0) throw new Error(`the audit ended with ${code}: ${output}`);
	return {
		seconds,
		megabytes,
		postgresSeconds: (postgresMs() - before) / 1_000,
	};
}

async function onSqlite(size: StoreSize): Promise<Proof> {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-audits-"));
	try {
		fillStore(folder, size);
		return await prove({ data: folder }, null);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

async function onPostgres(size: StoreSize): Promise<Proof> {
	const cluster = await startPostgres({ max_wal_size: "4GB" });
	try {
		const url = await cluster.newDatabase();
		await fillPostgres(url, size);
		return await prove({ store: url }, cluster.pid);
	} finally {
		await cluster.stop();
	}
}

const on = machine();
const rows: string[] = [];
for (const posts of options.posts.split(",").map(Number)) {
	const size = sizeOf(posts);
	const [sqlite, postgres] = [await onSqlite(size), await onPostgres(size)];
	const figures = [posts, size.accounts].map((count) => count.toLocaleString("en-US"));
	const seconds = (proof: Proof) => proof.seconds.toFixed(1);
	const megabytes = (proof: Proof) => String(Math.round(proof.megabytes));
	rows.push(
		`| ${[...figures, seconds(sqlite), megabytes(sqlite), seconds(postgres), megabytes(postgres), postgres.postgresSeconds.toFixed(1)].join(" | ")} |`,
	);
	console.log(rows.at(-1));
}

if (!options.dry) {
	const { date, commit, processor, cores, loadBefore } = on;
	const busy = isBusy(on)
		? `\n\n**The machine was busy with other work (load average ${loadBefore.toFixed(1)} before the run).**`
		: "";
	writeSection(
		[
			"## Audits",
			`Written by \`bench/audits.ts\`: [bench/README.md](../bench/README.md#audits). ${date}, commit ${commit}. ${processor}, ${cores} cores, load average ${loadBefore.toFixed(1)} before the run. \`turnpike audit\` as a process of its own, its start included; as many daily sums as posts.${busy}`,
			[
				"| Posts | Accounts | SQLite, s | MB | PostgreSQL, s | MB of the command | CPU s of PostgreSQL |",
				"| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
				...rows,
			].join("\n"),
		].join("\n\n"),
	);
}
