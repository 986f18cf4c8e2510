/**
 * Fills a data folder with a SQLite store of a given size, for measurements of what grows with it: accounts with keys and
 * a credit of 100 USD each, and posts of one charge each, in turn over the accounts, each on another day. The audit
 * holds on it.
 *
 *   bun bench/large-store.ts FOLDER --accounts 200000 --keys 300000 --posts 3000000
 */
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { hash } from "bun";
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

/** Writes the store; the last post is of today. */
export function fillStore(dataDir: string, { accounts, keys, posts }: StoreSize, nowMs = Date.now()): void {
	mkdirSync(dataDir, { recursive: true, mode: 0o700 });
	const db = openDatabase(dataDir);
	db.run("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
	const rounds = Math.ceil(posts / accounts);
	const firstDay = Math.floor(nowMs / DAY_MS) - (rounds - 1) * DAYS_BETWEEN;
	const numbers = (count: number) => `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})`;
	const account = (i: string) => `'acc_' || substr('000000000000000000000000' || (${i}), -24)`;
	const key = (i: string) => `substr('00000000' || (${i}), -8) || '-0000-4000-8000-000000000000'`;
	const day = `(${firstDay} + i / ${accounts} * ${DAYS_BETWEEN})`;
	const at = `(${day} * ${DAY_MS} + 3600000 + i % ${accounts} % 3600000)`;
	db.transaction(() => {
		db.run(`${numbers(accounts)} INSERT INTO accounts (id, name, tier, created_at, operator)
			SELECT ${account("i")}, 'Customer ' || i, 'paid', ${firstDay * DAY_MS} + i, i = 0 FROM n`);
		const insertKey = db.prepare(`INSERT INTO keys (id, account_id, hash, type, last6, description, limit_period, created_at)
			VALUES (?, ?, ?, 'INFERENCE', ?, 'Key of a large store', 'EPOCH', ?)`);
		for (let i = 0; i < keys; i++) {
			const id = `${String(i).padStart(8, "0")}-0000-4000-8000-000000000000`;
			const accountId = `acc_${String(i % accounts).padStart(24, "0")}`;
			const digest = hash(id).toString(16).padStart(16, "0").repeat(4);
			insertKey.run(id, accountId, digest, digest.slice(-6), firstDay * DAY_MS + i);
		}
		db.run(`${numbers(accounts)} INSERT INTO movements (id, kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
			SELECT i + 1, 'credit', 'issued', ${account("i")}, ${CREDIT_NANO}, 'usd', ${firstDay}, ${firstDay * DAY_MS}, ${firstDay * DAY_MS},
				${CREDIT_NANO} FROM n`);
		db.run(`${numbers(accounts)} INSERT INTO credits (reference, account_id, amount, movement_id, created_at)
			SELECT 'first ' || i, ${account("i")}, ${CREDIT_NANO}, i + 1, ${firstDay * DAY_MS} FROM n`);
		db.run(`${numbers(accounts)} INSERT INTO budgets (account_id, source, day, balance)
			SELECT ${account("i")}, 'usd', 0, ${CREDIT_NANO} - ${PRICE_NANO} * ((${posts} - i + ${accounts - 1}) / ${accounts}) FROM n`);
		db.run("INSERT INTO meta (name, value) VALUES ('node_id', 'node_large') ON CONFLICT DO UPDATE SET value = excluded.value");
		db.run(`INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, groups, posts, started_at)
			VALUES ('node_large', 1, 1, ${posts}, ${posts}, ${posts}, ${firstDay * DAY_MS})`);
		db.run(`${numbers(posts)} INSERT INTO posts (id, request_id, node_id, epoch, seq, account_id, key_id, day, admitted_at, done_at,
				booked_at, route, model, upstream, status, hold, price, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens,
				reasoning_tokens, tokens_counted, entries, entries_usd)
			SELECT i + 1, lower(hex(randomblob(16))), 'node_large', 1, i + 1, ${account(`i % ${accounts}`)},
				${key(`i % ${accounts}`)}, ${day}, ${at}, ${at} + 900, ${at} + 900, 'chat', 'llama-3.2-3b', 'built-in', 200, 100000, ${PRICE_NANO},
				24, 56, 0, 0, 0, 0, i / ${accounts} + 1, i / ${accounts} + 1 FROM n`);
		db.run(`INSERT INTO movements (kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at, booked_at,
				balance_after)
			SELECT 'charge', account_id, 'revenue', price, 'usd', id, 'llama-3.2-3b-llm-output-mtoken', 56, 71429, day, done_at, booked_at,
				${CREDIT_NANO} - ${PRICE_NANO} * entries_usd FROM posts`);
		db.run(`INSERT INTO usage_daily (account_id, key_id, day, unit, sku, amount, units, rows)
			SELECT account_id, key_id, day, 'usd', 'llama-3.2-3b-llm-output-mtoken', price, 56, 1 FROM posts ORDER BY account_id, key_id, day`);
	})();
	db.run("PRAGMA wal_checkpoint(TRUNCATE)");
	db.close();
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
