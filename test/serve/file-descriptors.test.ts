/** A server that may open no file and no connection any more, as where callers' connections have taken all descriptors. */
import { afterAll, expect, test } from "bun:test";
import { RawConnection } from "../http/raw-connection.ts";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { once, type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY, type Served, serve, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

let cluster: PostgresCluster | null = null;
afterAll(() => cluster?.stop());

async function createDatabase(): Promise<string> {
	cluster ??= await startPostgres();
	return cluster.newDatabase();
}

/** How many descriptors the process may have from now on: what it has open stays open. */
function limitDescriptors({ pid }: Served, most: number | string): void {
	const { exitCode, stderr } = Bun.spawnSync(["prlimit", "--pid", `${pid}`, `--nofile=${most}:`]);
	if (exitCode !== 0) throw new Error(stderr.toString());
}

const STORES: readonly [name: string, newStore: () => Promise<string | undefined>][] = [
	["SQLite", async () => undefined],
	["PostgreSQL", createDatabase],
];

test.skipIf(process.platform !== "linux" || Bun.which("prlimit") === null).each(STORES)(
	"a node on %s without a file descriptor left refuses new work at worst, and goes on when it has some",
	async (_, newStore) => {
		const store = await newStore();
		const upstream = startScriptedUpstream();
		const server = await serve({
			config: {
				upstreams: { scripted: upstreamEntry(upstream.url) },
				models: { entries: { priced: pricedModel(["scripted"]) } },
				accounts: { startingCreditUsd: "1000" },
				journal: { segmentMb: 1 },
				...(store === undefined ? {} : { store }),
			},
		});
		// One connection, which is there already; the one to the upstream is kept, too.
		const connection = await RawConnection.open(server.port);
		const body = JSON.stringify({ model: "priced", messages: HELLO });
		const head = ["POST /api/v1/chat/completions HTTP/1.1", "Host: localhost", `Authorization: Bearer ${ADMIN_KEY}`];
		const length = [`Content-Type: application/json`, `Content-Length: ${body.length}`, "", body];
		const chat = async (): Promise<number> => {
			await connection.send([...head, ...length].join("\r\n"));
			return (await connection.answer())?.status ?? 0;
		};
		const statuses = new Map<number, number>();
		const chats = async (count: number) => {
			for (let index = 0; index < count; index++) {
				const status = await chat();
				statuses.set(status, (statuses.get(status) ?? 0) + 1);
			}
		};
		await chats(20);
		expect([...statuses.keys()]).toEqual([200]);
		limitDescriptors(server, 3);
		// More than two segments of the journal, which the store's thread opens one after the other.
		await chats(4_000);
		if (store !== undefined && cluster !== null)
			await once(cluster.adminUrl, (sql) =>
				sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test_%'"),
			);
		await chats(500);
		expect([...statuses.keys()].filter((status) => status !== 503)).toEqual([200]);
		limitDescriptors(server, 1_000);
		await until(async () => (await chat()) === 200, "service again");
		connection.destroy();
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		const audit = await turnpike(["audit", "--data", server.dataDir, "--config", server.configFile]);
		expect(audit.code, audit.stdout + audit.stderr).toBe(0);
		server.remove();
		await upstream.stop();
	},
);
