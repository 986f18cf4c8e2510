/** Servers that start on one PostgreSQL: together, before their store, behind a migration, on a schema that is newer. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { MIGRATIONS } from "../../src/store/migrations/index.ts";
import { MIGRATIONS_LOCK } from "../../src/store/postgres/locks.ts";
import { answered, NodeFleet } from "../support/node-fleet.ts";
import { once } from "../support/postgres-cluster.ts";
import { type Served, serve, turnpike } from "../support/served.ts";
import { until } from "../support/until.ts";

const fleet = NodeFleet.forTests();

/** Starts a node and does not wait for it. */
async function starting(): Promise<Served> {
	const node = await serve({ config: fleet.config(100), waitFor: "nothing" });
	fleet.nodes.push(node);
	return node;
}

async function isReady(node: Served): Promise<boolean> {
	try {
		return (await fetch(`${node.url}/readyz`)).ok;
	} catch {
		return false;
	}
}

const rows = (query: string): Promise<Record<string, unknown>[]> =>
	once(fleet.url, async (sql) => [...(await sql.unsafe(query))]);

test("five that start together make the schema once, one account, one key, and all serve", async () => {
	const nodes = await fleet.start(5, 100);
	for (const node of nodes) await answered(node);
	const numbers = (await rows("SELECT number FROM schema_migrations ORDER BY number")).map((row) => Number(row.number));
	expect(numbers).toEqual(MIGRATIONS.map(({ number }) => number));
	const counts = `SELECT (SELECT count(*) FROM accounts) AS accounts, (SELECT count(*) FROM keys) AS keys,
		(SELECT count(*) FROM node_terms WHERE fenced_at IS NULL) AS nodes, (SELECT count(DISTINCT node_id) FROM posts) AS serving`;
	expect(await rows(counts)).toEqual([{ accounts: 1n, keys: 1n, nodes: 5n, serving: 5n }]);
});

test("one that is newer than the schema waits for the migration that another makes", async () => {
	await once(fleet.url, async (sql) => {
		await sql.unsafe("SELECT pg_advisory_lock($1)", [MIGRATIONS_LOCK]);
		const node = await starting();
		const waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'turnpike migration' AND wait_event = 'advisory'";
		await until(async () => (await rows(waits)).length === 1);
		expect(await isReady(node)).toBe(false);
		expect(await rows("SELECT to_regclass('posts') AS posts")).toEqual([{ posts: null }]);
		await sql.unsafe("SELECT pg_advisory_unlock($1)", [MIGRATIONS_LOCK]);
		await until(() => isReady(node));
		await answered(node);
	});
});

/** Names of a process's threads, where the system tells them. */
function threadNames(pid: number): string[] {
	try {
		return readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, "utf8").trim());
	} catch {
		return [];
	}
}

test.skipIf(process.platform !== "linux")(
	"one whose store thread starts slowly becomes ready: the delay does not age its heartbeats",
	async () => {
		const termMs = 3_000;
		const node = await serve({ config: fleet.config(100, { node: { termMs } }), waitFor: "nothing" });
		fleet.nodes.push(node);
		await until(() => threadNames(node.pid).includes("store"), "the store thread");
		node.kill("SIGSTOP");
		await Bun.sleep(termMs);
		node.kill("SIGCONT");
		await until(() => isReady(node), "the node is ready");
		await answered(node);
	},
);

test("one that is older than the schema does not start, and says what to do", async () => {
	const [first] = await fleet.start(1, 100);
	if (first === undefined) throw new Error("no node");
	await rows("INSERT INTO schema_migrations (number, name) VALUES (9999, 'of a later version')");
	const older = await starting();
	expect(await older.exited).toBe(1);
	expect(older.stderr()).toContain("schema 9999");
	expect(older.stderr()).toContain("start the version that wrote it");
	// The ones that run, run on.
	await answered(first);
});

test("one that comes before its store waits for it", async () => {
	await fleet.cluster.crash();
	const node = await starting();
	await until(async () => (await fetch(`${node.url}/healthz`).catch(() => null))?.ok === true);
	expect(await isReady(node)).toBe(false);
	await until(async () => node.stderr().includes("waiting for the store: it cannot be reached yet"));
	await fleet.cluster.start();
	await until(() => isReady(node));
	await answered(node);
});

test.each([
	["a database that is not there", (url: string) => url.replace(/[^/]+$/, "nowhere"), "does not exist"],
	["a role that is not there", (url: string) => url.replace("postgres@", "nobody@"), "does not exist"],
])("one with %s does not wait: it ends with 1 and says so", async (_what, wrong, text) => {
	const node = await serve({ config: { ...fleet.config(100), store: wrong(fleet.url) }, waitFor: "nothing" });
	fleet.nodes.push(node);
	expect(await node.exited).toBe(1);
	expect(node.stderr()).toMatch(new RegExp(`The store .* cannot be used: .*${text}`));
});

test("a command makes no store where a server never ran: a wrong name has no books that balance", async () => {
	const env = { TURNPIKE_STORE: fleet.url };
	for (const command of [["audit"], ["accounts", "list"], ["accounts", "create", "a"], ["usage", "export"]]) {
		const { code, stdout, stderr } = await turnpike(command, env);
		expect([command, code, stdout]).toEqual([command, 1, ""]);
		expect(stderr).toMatch(/^There is no store in postgres:.*: start a server on it once/);
	}
	expect(await rows("SELECT to_regclass('posts') AS posts")).toEqual([{ posts: null }]);
	await fleet.start(1, 100);
	expect((await turnpike(["audit"], env)).code).toBe(0);
});
