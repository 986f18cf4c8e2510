/** A SQLite and a PostgreSQL store with the same accounts, to apply the same batches to, and all of their rows. */
import { Database } from "bun:sqlite";
import type { SQL } from "bun";
import type { ReadGroup } from "../../src/journal/index.ts";
import { SAMPLE_DAY } from "../../src/journal/testing/sample-records.ts";
import { BatchApplier, type NodeEpoch } from "../../src/store/core/batch-applier.ts";
import { batchRows } from "../../src/store/postgres/batch-rows.ts";
import { connect } from "../../src/store/postgres/connect.ts";
import { migrate as migratePostgres } from "../../src/store/postgres/migrate.ts";
import { BatchRows } from "../../src/store/sqlite/batch-rows.ts";
import { migrate as migrateSqlite } from "../../src/store/sqlite/migrate.ts";
import { StoreClock } from "../../src/store/sqlite/store-clock.ts";

export const USD = 1_000_000_000;
export const ACCOUNTS = ["acc_rich", "acc_poor", "acc_staked", "acc_empty"] as const;
export const NODE: NodeEpoch = { id: "node_a", epoch: 1 };

/** A store as these tests use it. The statements are the same text for both. */
export interface ComparedStore {
	run(statement: string): Promise<unknown>;
	all(query: string): Promise<Record<string, unknown>[]>;
	apply(groups: readonly ReadGroup[]): Promise<number>;
	close(): Promise<unknown>;
}

/** Opens a SQLite store with the newest schema. */
export function sqliteStore(path = ":memory:"): ComparedStore {
	const db = new Database(path, { create: true, safeIntegers: true, strict: true });
	db.run("PRAGMA foreign_keys = ON");
	migrateSqlite(db);
	const applier = new BatchApplier(new BatchRows(db, NODE, new StoreClock(db)));
	return {
		run: async (statement) => db.run(statement),
		all: async (query) => db.query<Record<string, unknown>, []>(query).all(),
		apply: (groups) => applier.apply(db, groups),
		close: async () => db.close(),
	};
}

/**
 * Opens a PostgreSQL store with the newest schema.
 * @param reserved is called with the connection of each transaction
 */
export async function postgresStore(url: string, reserved: (connection: SQL) => void = () => {}): Promise<ComparedStore> {
	const sql = connect(url, { max: 2, name: "test" });
	const reserve = sql.reserve.bind(sql);
	sql.reserve = async () => {
		const connection = await reserve();
		reserved(connection);
		return connection;
	};
	await migratePostgres(sql);
	const applier = new BatchApplier(batchRows(NODE));
	return {
		run: (statement) => sql.unsafe(statement),
		all: async (query) => [...(await sql.unsafe(query))],
		apply: (groups) => applier.apply(sql, groups),
		close: () => sql.close(),
	};
}

/** Fills an empty store. */
export const START = [
	...ACCOUNTS.map(
		(id) => `INSERT INTO accounts (id, name, tier, disabled, operator, created_at) VALUES ('${id}', '${id}', 'paid', 0, 0, 0)`,
	),
	...ACCOUNTS.map(
		(id) => `INSERT INTO keys (id, account_id, hash, type, last6, description, limit_period, created_at)
			VALUES ('key_${id}', '${id}', 'hash of ${id}', 'INFERENCE', 'abcdef', '', 'EPOCH', 0)`,
	),
	`INSERT INTO budgets (account_id, source, day, balance) VALUES ('acc_rich', 'usd', 0, ${100 * USD}),
		('acc_poor', 'usd', 0, ${USD}), ('acc_poor', 'bundled', 0, ${2 * USD}), ('acc_staked', 'usd', 0, ${2 * USD})`,
	// The allotment of the second day was lost in a crash.
	`INSERT INTO diem_stakes (account_id, from_day, stake, set_at) VALUES ('acc_staked', 1, ${3 * USD}, 0)`,
	`INSERT INTO budgets (account_id, source, day, balance) VALUES ('acc_staked', 'diem', ${SAMPLE_DAY}, ${3 * USD})`,
	`INSERT INTO nodes (node_id, epoch, first_seq, applied_seq, groups, posts, rejects, started_at)
		VALUES ('${NODE.id}', ${NODE.epoch}, 1, 0, 0, 0, 0, 0)`,
];

const POST = `request_id, node_id, epoch, seq, account_id, key_id, day, admitted_at, done_at, route, model, upstream, status, hold, price,
	prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, tokens_counted, entries, entries_usd,
	entries_bundled, entries_diem`;
/** Every column but instants of application, ids of rows, and the texts of errors, which the databases word differently. */
const ROWS: Readonly<Record<string, string>> = {
	posts: `SELECT ${POST} FROM posts ORDER BY id`,
	movements: `SELECT request_id, kind, debit, credit, amount, unit, sku, units, pico_price, movements.day, occurred_at, balance_after
		FROM movements JOIN posts ON posts.id = movements.post_id ORDER BY movements.id`,
	allotments: "SELECT account_id, day, amount FROM allotments ORDER BY account_id, day",
	budgets: "SELECT account_id, source, day, balance, leased FROM budgets ORDER BY account_id, source, day",
	leases: "SELECT account_id, source, day, amount FROM leases ORDER BY account_id, source, day",
	usage:
		"SELECT account_id, key_id, day, unit, sku, amount, units, rows FROM usage_daily ORDER BY account_id, key_id, day, unit, sku",
	nodes: "SELECT node_id, epoch, first_seq, applied_seq, groups, posts, rejects FROM nodes ORDER BY node_id, epoch",
	rejected: "SELECT seq, record FROM rejected ORDER BY id",
	keys: "SELECT id, last_used_at FROM keys ORDER BY id",
	answers: `SELECT account_id, key, fingerprint, known, status, note, bytes, crc32, file, expires_at FROM idempotency_answers
		ORDER BY account_id, key`,
	credits: "SELECT account_id, bucket, credits FROM rpc_credits ORDER BY account_id, bucket",
	sends: `SELECT request_id, item, account_id, key_id, network, method, raw_hash, tx_hash, sent_at, outcome, ended_at FROM rpc_sends
		ORDER BY request_id, item`,
};

/** Returns the rows of all tables that batches write. */
export async function rowsOf(store: ComparedStore): Promise<Record<string, unknown>> {
	const rows: Record<string, unknown> = {};
	for (const [table, query] of Object.entries(ROWS)) {
		rows[table] = (await store.all(query)).map((row) =>
			Object.values(row).map((value) => (typeof value === "bigint" ? Number(value) : value)),
		);
	}
	return rows;
}
