/** A store with a long statement, written in bulk as the store thread would have written it, without the wait. */
import type { Database } from "bun:sqlite";
import { NANO_PER_USD } from "../../ledger/nano.ts";
import { createAccount, openAdmin } from "../admin.ts";
import { DAY_MS } from "../core/day.ts";
import { openDatabase } from "../sqlite/open-database.ts";

export interface LongStatement {
	readonly accountId: string;
	/** Charges of the account; two per post. */
	readonly entries: number;
	/** UTC day number of the first post; one post per second follows. */
	readonly firstDay: number;
}

const FIRST_DAY = 20_000;
const POSTS_A_STATEMENT = 100_000;
const INPUT_NANO = 1_000;
const OUTPUT_NANO = 3_000;

/** Every tenth post is paid by bundled credit, the others by USD: as after a plan's grant was spent. */
const UNIT = "CASE n % 10 WHEN 0 THEN 'bundled' ELSE 'usd' END";
const BOOKED_MS = `(${FIRST_DAY * DAY_MS} + n * 1000)`;

/** Creates a store in an empty folder whose first account has `entries` charges. The books balance. */
export async function writeLongStatement(dataDir: string, entries: number): Promise<LongStatement> {
	const posts = Math.floor(entries / 2);
	const admin = openAdmin(dataDir, () => FIRST_DAY * DAY_MS - 1);
	const { id } = await createAccount(admin, { name: "long", startingCreditUsd: "1000000" });
	await admin.close();
	const db = openDatabase(dataDir);
	try {
		db.run("PRAGMA synchronous = OFF");
		db.run("PRAGMA cache_size = -131072");
		for (let from = 0; from < posts; from += POSTS_A_STATEMENT) {
			writePosts(db, id, from, Math.min(posts, from + POSTS_A_STATEMENT));
		}
		writeSums(db, id, posts);
		db.run("PRAGMA wal_checkpoint(TRUNCATE)");
	} finally {
		db.close();
	}
	return { accountId: id, entries: posts * 2, firstDay: FIRST_DAY };
}

/** Writes posts numbered from `from` + 1 to `to`, each with an input and an output line. */
function writePosts(db: Database, accountId: string, from: number, to: number): void {
	const numbers = "WITH RECURSIVE numbers (n) AS (SELECT ?2 + 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?3)";
	db.transaction(() => {
		db.query(
			`${numbers} INSERT INTO posts (id, request_id, node_id, epoch, seq, account_id, day, admitted_at, done_at, booked_at, route,
				model, upstream, status, hold, price, prompt_tokens, completion_tokens, entries, entries_usd, entries_bundled)
				SELECT n, printf('long%028d', n), 'n', 1, n, ?1, ${FIRST_DAY} + n / 86400, ${BOOKED_MS} - 900, ${BOOKED_MS} - 100, ${BOOKED_MS},
				'chat', 'long', 'local', 200, 10000, ${INPUT_NANO + OUTPUT_NANO}, 10, 10, n * 2, CASE n % 10 WHEN 0 THEN NULL ELSE (n - n / 10) * 2 END,
				CASE n % 10 WHEN 0 THEN n / 10 * 2 END FROM numbers`,
		).run(accountId, from, to);
		for (const [part, sku, amount] of [
			[1, "long-llm-input-mtoken", INPUT_NANO],
			[2, "long-llm-output-mtoken", OUTPUT_NANO],
		] as const) {
			db.query(
				`${numbers} INSERT INTO movements (id, kind, debit, credit, amount, unit, post_id, sku, units, pico_price, day, occurred_at,
					booked_at, balance_after) SELECT 10 + n * 2 + ${part}, 'charge', ?1, 'revenue', ${amount}, ${UNIT}, n, '${sku}', 10,
					${amount * 100}, ${FIRST_DAY} + n / 86400, ${BOOKED_MS} - 100, ${BOOKED_MS}, 0 FROM numbers`,
			).run(accountId, from, to);
		}
	}).immediate();
}

/** Writes balances, daily sums and the node's counts for these posts. */
function writeSums(db: Database, accountId: string, posts: number): void {
	db.transaction(() => {
		db.query(
			`INSERT INTO usage_daily (account_id, key_id, day, unit, sku, amount, units, rows)
				SELECT debit, '', day, unit, sku, sum(amount), sum(units), count(*) FROM movements WHERE kind = 'charge' GROUP BY 1, 3, 4, 5`,
		).run();
		const bundled = Math.floor(posts / 10) * (INPUT_NANO + OUTPUT_NANO);
		const usd = 1_000_000 * NANO_PER_USD - (posts - Math.floor(posts / 10)) * (INPUT_NANO + OUTPUT_NANO);
		db.query("UPDATE budgets SET balance = ? WHERE account_id = ? AND source = 'usd'").run(usd, accountId);
		if (bundled > 0) {
			db.query("INSERT INTO budgets (account_id, source, day, balance) VALUES (?, 'bundled', 0, 0)").run(accountId);
			db.query(
				`INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
					VALUES ('grant', 'issued', ?, ?, 'bundled', ?, ?, ?, ?)`,
			).run(accountId, bundled, FIRST_DAY, FIRST_DAY * DAY_MS, FIRST_DAY * DAY_MS, bundled);
		}
		db.query(
			"INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, groups, posts, started_at) VALUES ('n', 1, 1, ?1, ?1, ?1, 0)",
		).run(posts);
		db.query("INSERT INTO meta (name, value) VALUES ('node_id', 'n')").run();
	}).immediate();
}
