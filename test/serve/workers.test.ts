/** A server of several processes on one port: exact under kills, and one server in what it shows. */
import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import type { Models, Overview } from "../../src/routes/console/types.ts";
import { openAdmin } from "../../src/store/admin.ts";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { signIn } from "../support/console-gateway.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY, freePort, type Served, serve, temporaryFolder, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const CLIENTS = 16;

let cluster: PostgresCluster | null = null;

afterAll(() => cluster?.stop());

/** Returns the processes that a server has started. */
function workersOf({ pid }: Served): number[] {
	const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
	return children.split(" ").filter(Boolean).map(Number);
}

function isServing({ stderr }: Served): boolean {
	return stderr().includes('"all workers serve"');
}

async function startWorkers(options: { dataDir: string; port: number; config: object }): Promise<Served> {
	const server = await serve(options);
	await until(() => isServing(server), "all workers serve");
	return server;
}

function configOf(url: string, workers: number, more: object = {}): object {
	return {
		workers,
		upstreams: { scripted: upstreamEntry(url) },
		models: { entries: { priced: pricedModel(["scripted"]) } },
		accounts: { startingCreditUsd: "1000" },
		journal: { segmentMb: 1 },
		...more,
	};
}

const STORES: readonly [name: string, workers: number, rounds: number, newStore: () => Promise<string | undefined>][] = [
	["SQLite", 4, 10, async () => undefined],
	[
		"PostgreSQL",
		2,
		4,
		async () => {
			cluster ??= await startPostgres();
			return cluster.newDatabase();
		},
	],
];

test.each(STORES)(
	"on %s with %d workers: kill -9 of one under load, and of all, loses no charge and doubles none",
	async (_, workers, rounds, newStore) => {
		const store = await newStore();
		const upstream = startScriptedUpstream();
		const dataDir = temporaryFolder();
		const port = await freePort();
		const config = configOf(upstream.url, workers, { ...(store === undefined ? {} : { store }), node: { termMs: 3_000 } });
		const acknowledged: string[] = [];
		let server = await startWorkers({ dataDir, port, config });
		let stop = false;
		const clients = Array.from({ length: CLIENTS }, async (_, client) => {
			while (!stop) {
				try {
					const answer = await server.chat({ model: "priced", messages: HELLO, stream: client % 2 === 0 });
					const text = await answer.text();
					const whole = text.endsWith("data: [DONE]\n\n") || text.endsWith("}");
					if (answer.status === 200 && whole) acknowledged.push(answer.headers.get("x-request-id") ?? "");
				} catch {
					// Its worker was killed, or none listens.
					await Bun.sleep(1);
				}
			}
		});
		for (let round = 0; round < rounds; round++) {
			const target = acknowledged.length + 20 + 13 * round;
			await until(() => acknowledged.length >= target, `answer ${target} in round ${round}`);
			const before = workersOf(server);
			expect(before).toHaveLength(workers);
			const victim = before[round % workers] ?? 0;
			if (round % 4 === 3) {
				server.kill("SIGKILL");
				// The output ends with the last worker.
				await server.exited;
				server = await startWorkers({ dataDir, port, config });
			} else {
				process.kill(victim, "SIGKILL");
				await until(() => !workersOf(server).includes(victim) && workersOf(server).length === workers, "a new worker");
			}
		}
		stop = true;
		await Promise.all(clients);
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		const admin = openAdmin(store ?? dataDir);
		const posts = await admin.db.selectFrom("posts").select("request_id").execute();
		const leases = await admin.db.selectFrom("leases").selectAll().execute();
		await admin.close();
		const counts = new Map<string, number>();
		for (const { request_id: id } of posts) counts.set(id, (counts.get(id) ?? 0) + 1);
		expect(acknowledged.filter((id) => counts.get(id) !== 1)).toEqual([]);
		expect(counts.size).toBe(posts.length);
		expect(leases).toEqual([]);
		const audit = await turnpike(["audit", "--config", server.configFile, "--data", dataDir]);
		expect([audit.code, audit.stdout]).toEqual([0, expect.stringContaining("The books balance")]);
		await upstream.stop();
		server.remove();
	},
);

test("several workers are one server: one budget, one page of metrics, one reload, one end", async () => {
	const upstream = startScriptedUpstream();
	const dataDir = temporaryFolder();
	const config = configOf(upstream.url, 2);
	const server = await startWorkers({ dataDir, port: await freePort(), config });
	const call = (method: string, path: string, body?: object) =>
		fetch(`${server.url}${path}`, {
			method,
			headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json", connection: "close" },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});

	const chat = { model: "priced", messages: HELLO, max_tokens: 4 };
	expect((await server.chat(chat)).status).toBe(200);
	const price = await spentBy(dataDir);
	const limited = await call("POST", "/api/v1/api_keys", {
		apiKeyType: "INFERENCE",
		description: "twenty requests",
		consumptionLimit: { usd: (price * 20) / 1e9 },
	});
	const key = ((await limited.json()) as { data: { apiKey: string } }).data.apiKey;
	const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await server.chat(chat, { key })).status));
	const answered = statuses.filter((status) => status === 200).length;
	expect(answered).toBeGreaterThan(0);
	expect(answered).toBeLessThanOrEqual(20);
	expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([]);

	const page = await (await call("GET", "/metrics")).text();
	const counted = [...page.matchAll(/^turnpike_requests_total\{worker="(\d)",endpoint="chat".*\} (\d+)$/gm)];
	expect(counted.reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(61);
	expect(page.match(/^# TYPE turnpike_requests_total /gm)).toHaveLength(1);
	expect(new Set([...page.matchAll(/^process_start_time_seconds\{worker="(\d)"\}/gm)].map(([, worker]) => worker))).toEqual(
		new Set(["0", "1"]),
	);
	const openMetrics = await fetch(`${server.url}/metrics`, { headers: { accept: "application/openmetrics-text" } });
	expect(await openMetrics.text()).toEndWith("\n# EOF\n");
	const top = await turnpike(["top", "--once", "--config", server.configFile, "--data", dataDir]);
	expect([top.code, top.stdout]).toEqual([0, expect.stringMatching(/up \d+ s\n/)]);

	const console = await signIn(server.url, ADMIN_KEY);
	const overview = await console.get<Overview>("/overview");
	expect(overview.now.requests).toBeGreaterThanOrEqual(61);
	const { models } = await console.get<Models>("/models");
	expect(models.find(({ id }) => id === "priced")?.requests).toBe(61);

	await console.change("PUT", "/log-level", { level: "warn" });
	await until(() => [...server.stderr().matchAll(/"the log level was set in the console"/g)].length === 2, "both levels");

	writeFileSync(server.configFile, JSON.stringify({ ...config, log: { level: "debug" } }));
	expect((await turnpike(["reload", "--config", server.configFile, "--data", dataDir])).code).toBe(0);
	await until(() => [...server.stderr().matchAll(/"msg":"reloaded"/g)].length === 2, "both have reloaded");

	server.kill("SIGTERM");
	expect(await server.exited).toBe(0);
	expect((await turnpike(["audit", "--config", server.configFile, "--data", dataDir])).stdout).toContain("The books balance");
	await upstream.stop();
	server.remove();
});

/** Returns what the store's posts cost, in nano-USD. */
async function spentBy(dataDir: string): Promise<number> {
	let spent = 0;
	await until(async () => {
		const admin = openAdmin(dataDir);
		const posts = await admin.db.selectFrom("posts").select("price").execute();
		await admin.close();
		spent = posts.reduce((sum, { price }) => sum + Number(price), 0);
		return posts.length > 0;
	}, "the post is applied");
	return spent;
}

test.each(STORES)(
	"fewer workers than before on %s: what the others left in their journals is applied at the start",
	async (_, __, ___, newStore) => {
		const store = await newStore();
		const upstream = startScriptedUpstream();
		const dataDir = temporaryFolder();
		const port = await freePort();
		const more = store === undefined ? {} : { store };
		const three = await startWorkers({ dataDir, port, config: configOf(upstream.url, 3, more) });
		const answers = await Promise.all(
			Array.from({ length: 24 }, async () => (await three.chat({ model: "priced", messages: HELLO })).status),
		);
		expect(answers.every((status) => status === 200)).toBe(true);
		for (const process_ of [three.pid, ...workersOf(three)]) process.kill(process_, "SIGKILL");
		await three.exited;
		const one = await serve({ dataDir, port, config: configOf(upstream.url, 1, more) });
		const admin = openAdmin(store ?? dataDir);
		await until(async () => {
			const posts = await admin.db.selectFrom("posts").select("request_id").execute();
			return posts.length === 24;
		}, "all posts are applied");
		await admin.close();
		const audit = await turnpike(["audit", "--config", one.configFile, "--data", dataDir]);
		expect(audit.stdout).toContain("The books balance");
		one.kill("SIGTERM");
		expect(await one.exited).toBe(0);
		await upstream.stop();
		one.remove();
	},
);

test("a port that is taken, and a second server on the folder, end the start with 1 and a sentence", async () => {
	const upstream = startScriptedUpstream();
	const dataDir = temporaryFolder();
	const config = configOf(upstream.url, 2);
	const server = await startWorkers({ dataDir, port: await freePort(), config });
	const samePort = await serve({ port: server.port, config, waitFor: "nothing" });
	expect(await samePort.exited).toBe(1);
	expect(samePort.stderr()).toContain(`Port ${server.port} on 127.0.0.1 is in use`);
	const sameFolder = await serve({ dataDir, config, port: await freePort(), waitFor: "nothing" });
	expect(await sameFolder.exited).toBe(1);
	expect(sameFolder.stderr()).toContain("nother server already runs on the data folder");
	samePort.remove();
	server.kill("SIGTERM");
	expect(await server.exited).toBe(0);
	await upstream.stop();
	server.remove();
});

test("a server that starts over workers of a killed one waits for their end, on another port too", async () => {
	const upstream = startScriptedUpstream();
	const dataDir = temporaryFolder();
	const first = await startWorkers({ dataDir, port: await freePort(), config: configOf(upstream.url, 2) });
	const workers = workersOf(first);
	// A stopped worker does not notice that the process that started it has ended.
	for (const worker of workers) process.kill(worker, "SIGSTOP");
	process.kill(first.pid, "SIGKILL");
	const second = await serve({ dataDir, port: await freePort(), config: configOf(upstream.url, 1), waitFor: "nothing" });
	await until(() => isLocking(second.pid, dataDir), "the second server has locked the folder");
	expect((await fetch(`${second.url}/readyz`).catch(() => null))?.ok ?? false).toBe(false);
	for (const worker of workers) process.kill(worker, "SIGCONT");
	await until(async () => (await fetch(`${second.url}/readyz`).catch(() => null))?.ok === true, "the second server is ready");
	await first.exited;
	expect((await second.chat({ model: "priced", messages: HELLO })).status).toBe(200);
	second.kill("SIGTERM");
	expect(await second.exited).toBe(0);
	await upstream.stop();
	second.remove();
});

/** Returns true if the process has the data folder's lock file open. */
function isLocking(pid: number, dataDir: string): boolean {
	return readdirSync(`/proc/${pid}/fd`).some((name) => {
		try {
			return readlinkSync(`/proc/${pid}/fd/${name}`) === `${dataDir}/lock.db`;
		} catch {
			return false;
		}
	});
}
