/**
 * Fills a SQLite or PostgreSQL store of a given size, for measurements of what grows with it: accounts with keys and
 * a credit of 100 USD each, and posts of one charge each, in turn over the accounts, each on another day. The audit
 * holds on it.
 *
 *   bun bench/large-store.ts FOLDER --accounts 200000 --keys 300000 --posts 3000000
 */
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { migrate } from "../src/store/postgres/migrate.ts";
import { openDatabase } from "../src/store/sqlite/open-database.ts";

export interface StoreSize {
	readonly accounts: number;
	readonly keys: number;
	readonly posts: number;
}

const DAY_MS = 86_400_000;
const CREDIT_NANO = 100_000_000_000;
const PRICE_NANO = 4_000;
/** Days between two posts of an account. */
const DAYS_BETWEEN = 6;

/** What differs between the two stores: `last` takes the end of a text, `random` makes so many hexadecimal digits. */
interface Dialect {
	readonly last: (text: string, characters: number) => string;
	readonly random: (digits: 32 | 64) => string;
	readonly settings: string;
}

const SQLITE: Dialect = {
	last: (text, characters) => `substr(${text}, -${characters})`,
	random: (digits) => `lower(hex(randomblob(${digits / 2})))`,
	settings: "PRAGMA cache_size = -262144",
};
const POSTGRES: Dialect = {
	last: (text, characters) => `right(${text}, ${characters})`,
	random: (digits) => `left(md5(random()::text || i) || md5(random()::text || i), ${digits})`,
	settings: "SET synchronous_commit = off",
};

/** Returns the statements that write the store; the last post is of today. */
function statementsOf({ last, random, settings }: Dialect, { accounts, keys, posts }: StoreSize, nowMs: number): string[] {
	const rounds = Math.ceil(posts / accounts);
	const firstDay = Math.floor(nowMs / DAY_MS) - (rounds - 1) * DAYS_BETWEEN;
	const firstMs = `CAST(${firstDay * DAY_MS} AS BIGINT)`;
	const numbers = (count: number) => `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})`;
	const account = (i: string) => `'acc_' || ${last(`'000000000000000000000000' || (${i})`, 24)}`;
	const key = (i: string) => `${last(`'00000000' || (${i})`, 8)} || '-0000-4000-8000-000000000000'`;
	const day = `(CAST(${firstDay} AS BIGINT) + i / ${accounts} * ${DAYS_BETWEEN})`;
	const at = `(${day} * ${DAY_MS} + 3600000 + i % ${accounts} % 3600000)`;
	const entry = `i / ${accounts} + 1`;
	return [
		settings,
		`${numbers(accounts)} INSERT INTO accounts (id, name, tier, created_at, operator)
			SELECT ${account("i")}, 'Customer ' || i, 'paid', ${firstMs} + i, CASE i WHEN 0 THEN 1 ELSE 0 END FROM n`,
		`${numbers(keys)} INSERT INTO keys (id, account_id, hash, type, last6, description, limit_period, created_at)
			SELECT ${key("i")}, ${account(`i % ${accounts}`)}, ${random(64)}, 'INFERENCE', ${last("'000000' || i", 6)},
				'Key of a large store', 'EPOCH', ${firstMs} + i FROM n`,
		`${numbers(accounts)} INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
			SELECT 'credit', 'issued', ${account("i")}, ${CREDIT_NANO}, 'usd', ${firstDay}, ${firstMs}, ${firstMs}, ${CREDIT_NANO} FROM n`,
		`INSERT INTO credits (reference, account_id, amount, movement_id, created_at)
			SELECT 'first ' || id, credit, amount, id, booked_at FROM movements`,
		`${numbers(accounts)} INSERT INTO budgets (account_id, source, day, balance, leased)
			SELECT ${account("i")}, 'usd', 0, ${CREDIT_NANO} - ${PRICE_NANO} * ((${posts} - i + ${accounts - 1}) / ${accounts}), 0 FROM n`,
		`INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, groups, posts, started_at)
			VALUES ('node_large', 1, 1, ${posts}, ${posts}, ${posts}, ${firstMs})`,
		`${numbers(posts)} INSERT INTO posts (request_id, node_id, epoch, seq, account_id, key_id, day, admitted_at, done_at,
				booked_at, route, model, upstream, status, hold, price, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens,
				reasoning_tokens, tokens_counted, entries, entries_usd)
			SELECT ${random(32)}, 'node_large', 1, i + 1, ${account(`i % ${accounts}`)}, ${key(`i % ${accounts}`)}, ${day}, ${at}, ${at} + 900,
				${at} + 900, 'chat', 'llama-3.2-3b', 'built-in', 200, 100000, ${PRICE_NANO}, 24, 56, 0, 0, 0, 0, ${entry}, ${entry} FROM n`,
		`INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at,
				balance_after)
			SELECT 'charge', account_id, 'revenue', price, 'usd', id, 'llama-3.2-3b-llm-output-mtoken', 56, 71429, day, done_at, booked_at,
				${CREDIT_NANO} - ${PRICE_NANO} * entries_usd FROM posts`,
		`INSERT INTO usage_daily (account_id, key_id, day, unit, sku, amount, units, rows)
			SELECT account_id, key_id, day, 'usd', 'llama-3.2-3b-llm-output-mtoken', price, 56, 1 FROM posts
			ORDER BY account_id, key_id, day`,
	];
}

/** Writes a SQLite store into a data folder. */
export function fillStore(dataDir: string, size: StoreSize, nowMs = Date.now()): void {
	mkdirSync(dataDir, { recursive: true, mode: 0o700 });
	const db = openDatabase(dataDir);
	db.run("PRAGMA synchronous = OFF");
	db.transaction(() => {
		for (const statement of statementsOf(SQLITE, size, nowMs)) db.run(statement);
		db.run("INSERT INTO meta (name, value) VALUES ('node_id', 'node_large') ON CONFLICT DO UPDATE SET value = excluded.value");
	})();
	db.run("PRAGMA wal_checkpoint(TRUNCATE)");
	db.close();
}

/** Writes the same store into an empty PostgreSQL database. */
export async function fillPostgres(url: string, size: StoreSize, nowMs = Date.now()): Promise<void> {
	const sql = new SQL(url, { max: 1 });
	try {
		await migrate(sql);
		for (const statement of statementsOf(POSTGRES, size, nowMs)) await sql.unsafe(statement);
		// As autovacuum does within a minute on a server that has time.
		await sql.unsafe("VACUUM ANALYZE");
	} finally {
		await sql.close();
	}
}

if (import.meta.main) {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			accounts: { type: "string", default: "200000" },
			keys: { type: "string", default: "300000" },
			posts: { type: "string", default: "3000000" },
		},
	});
	const [folder] = positionals;
	if (folder === undefined) throw new Error("usage: bun bench/large-store.ts FOLDER [--accounts N] [--keys N] [--posts N]");
	fillStore(folder, { accounts: Number(values.accounts), keys: Number(values.keys), posts: Number(values.posts) });
}
