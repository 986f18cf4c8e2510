/**
 * What a service without a journal does for each request, by PostgreSQL's own `pgbench` (Debian: `postgresql`): one
 * transaction of four statements, over 16 connections.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once, type PostgresCluster } from "../test/support/postgres-cluster.ts";
import { processTree, usageOf } from "./process-accounting.ts";

const CLIENTS = 16;
const THREADS = 2;

const TABLES = `
	CREATE TABLE balances (account_id BIGINT PRIMARY KEY, balance BIGINT NOT NULL CHECK (balance >= 0));
	CREATE TABLE posts (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, request_id TEXT NOT NULL UNIQUE,
		account_id BIGINT NOT NULL REFERENCES balances, day BIGINT NOT NULL, admitted_at BIGINT NOT NULL, done_at BIGINT NOT NULL,
		route TEXT NOT NULL, model TEXT, upstream TEXT, status BIGINT NOT NULL, price BIGINT NOT NULL, tokens_in BIGINT, tokens_out BIGINT);
	CREATE INDEX posts_of_account ON posts (account_id, id);
	CREATE TABLE movements (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, post_id BIGINT NOT NULL REFERENCES posts,
		account_id BIGINT NOT NULL, amount BIGINT NOT NULL CHECK (amount > 0), sku TEXT NOT NULL, units BIGINT NOT NULL,
		pico_price BIGINT NOT NULL, day BIGINT NOT NULL, occurred_at BIGINT NOT NULL, balance_after BIGINT NOT NULL);
	CREATE INDEX movements_of_post ON movements (post_id);
	CREATE TABLE usage_daily (account_id BIGINT, day BIGINT, sku TEXT, amount BIGINT NOT NULL, units BIGINT NOT NULL,
		rows BIGINT NOT NULL, PRIMARY KEY (account_id, day, sku))`;

const script = (accounts: number): string => `\\set account random(1, ${accounts})
BEGIN;
UPDATE balances SET balance = balance - 120 WHERE account_id = :account AND balance >= 120 RETURNING balance AS balance \\gset
INSERT INTO posts (request_id, account_id, day, admitted_at, done_at, route, model, upstream, status, price, tokens_in, tokens_out) VALUES (gen_random_uuid()::text, :account, 20000, 1, 2, 'chat', 'bench', 'bench', 200, 120, 24, 56) RETURNING id AS post \\gset
INSERT INTO movements (post_id, account_id, amount, sku, units, pico_price, day, occurred_at, balance_after) VALUES (:post, :account, 36, 'bench-model-llm-input-mtoken', 24, 1500000, 20000, 2, :balance), (:post, :account, 84, 'bench-model-llm-output-mtoken', 56, 1500000, 20000, 2, :balance);
INSERT INTO usage_daily AS d VALUES (:account, 20000, 'bench-model-llm-input-mtoken', 36, 24, 1), (:account, 20000, 'bench-model-llm-output-mtoken', 84, 56, 1) ON CONFLICT (account_id, day, sku) DO UPDATE SET amount = d.amount + excluded.amount, units = d.units + excluded.units, rows = d.rows + 1;
COMMIT;
`;

/** Runs the transactions for some seconds. Throws where pgbench is not installed, or a transaction failed. */
export async function measurePgbench(cluster: PostgresCluster, accounts: number, seconds: number) {
	const url = await cluster.newDatabase();
	await once(url, async (sql) => {
		await sql.unsafe(TABLES);
		await sql.unsafe("INSERT INTO balances SELECT n, 1000000000000 FROM generate_series(1, $1::int8) AS n", [accounts]);
	});
	const folder = mkdtempSync(join(tmpdir(), "turnpike-pgbench-"));
	const file = join(folder, "request.sql");
	writeFileSync(file, script(accounts));
	const postgresMs = (): number => usageOf(processTree(cluster.pid)).cpuMs;
	try {
		const beginMs = postgresMs();
		const options = ["-n", "-M", "prepared", "-c", `${CLIENTS}`, "-j", `${THREADS}`, "-T", `${seconds}`, "-f", file];
		const server = ["-h", "127.0.0.1", "-p", `${cluster.port}`, "-U", "postgres", new URL(url).pathname.slice(1)];
		const pgbench = Bun.spawn(["pgbench", ...options, ...server], { stdout: "pipe", stderr: "inherit" });
		const text = await new Response(pgbench.stdout).text();
		const code = await pgbench.exited;
		const settled = Number(/transactions actually processed: (\d+)/.exec(text)?.[1]);
		if (code !== 0 || !(settled > 0)) throw new Error(`pgbench: ${text}`);
		return {
			perSecond: Number(/tps = ([\d.]+)/.exec(text)?.[1]),
			ownUs: Number(pgbench.resourceUsage()?.cpuTime.total ?? 0) / settled,
			postgresUs: (1_000 * (postgresMs() - beginMs)) / settled,
			firstPerSecond: 0,
		};
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
