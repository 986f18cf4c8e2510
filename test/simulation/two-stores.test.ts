/**
 * The same random journal applied to SQLite and to PostgreSQL: after each batch every row of both is the same. Posts owe,
 * pay from leases that are gone, come twice, are damaged or refused; batches come again, and behind a hole.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ReadGroup } from "../../src/journal/index.ts";
import type { JournalRecord, MoneySource, PostRecord } from "../../src/journal/records.ts";
import { requestId, SAMPLE_DAY, sampleLine, samplePost } from "../../src/journal/testing/sample-records.ts";
import { nano, pico } from "../../src/ledger/nano.ts";
import { BatchApplier, type NodeEpoch } from "../../src/store/core/batch-applier.ts";
import { batchRows } from "../../src/store/postgres/batch-rows.ts";
import { connect } from "../../src/store/postgres/connect.ts";
import { migrate as migratePostgres } from "../../src/store/postgres/migrate.ts";
import { BatchRows } from "../../src/store/sqlite/batch-rows.ts";
import { migrate as migrateSqlite } from "../../src/store/sqlite/migrate.ts";
import { StoreClock } from "../../src/store/sqlite/store-clock.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { Random } from "./random.ts";

const BATCHES = 100;
const USD = 1_000_000_000;
const SOURCES = ["diem", "bundled", "usd"] as const;
const ACCOUNTS = ["acc_rich", "acc_poor", "acc_staked", "acc_empty"] as const;
const DAYS = [SAMPLE_DAY, SAMPLE_DAY + 1] as const;
const NODE: NodeEpoch = { id: "node_a", epoch: 1 };
const HOUR_MS = 3_600_000;

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres({ fsync: "off" });
});

afterAll(() => cluster.stop());

/** A store as this test uses it. The statements are the same text for both. */
interface Store {
	run(statement: string): Promise<unknown>;
	all(query: string): Promise<Record<string, unknown>[]>;
	apply(groups: readonly ReadGroup[]): Promise<number>;
	close(): Promise<unknown>;
}

function sqliteStore(): Store {
	const db = new Database(":memory:", { safeIntegers: true, strict: true });
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

async function postgresStore(): Promise<Store> {
	const sql = connect(await cluster.newDatabase(), { max: 2, name: "test" });
	await migratePostgres(sql);
	const applier = new BatchApplier(batchRows(NODE));
	return {
		run: (statement) => sql.unsafe(statement),
		all: async (query) => [...(await sql.unsafe(query))],
		apply: (groups) => applier.apply(sql, groups),
		close: () => sql.close(),
	};
}

const START = [
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

async function rowsOf(store: Store): Promise<Record<string, unknown>> {
	const rows: Record<string, unknown> = {};
	for (const [table, query] of Object.entries(ROWS)) {
		rows[table] = (await store.all(query)).map((row) =>
			Object.values(row).map((value) => (typeof value === "bigint" ? Number(value) : value)),
		);
	}
	return rows;
}

/** Draws a journal, and what happens to leases beside it. */
class History {
	readonly #random: Random;
	#requests = 0;
	#seq = 0;

	constructor(seed: number) {
		this.#random = new Random(seed);
	}

	/** Statements that lease free money to the node, or lose a lease as a failover does. */
	leaseChanges(): string[] {
		const random = this.#random;
		const source = this.#one(SOURCES);
		const budget = `account_id = '${this.#one(ACCOUNTS)}' AND source = '${source}' AND day = ${source === "diem" ? this.#one(DAYS) : 0}`;
		if (random.chance(0.2)) return [`UPDATE budgets SET leased = 0 WHERE ${budget}`, `DELETE FROM leases WHERE ${budget}`];
		const part = `(balance - leased) / ${1 + random.integer(4)}`;
		return [
			`INSERT INTO leases (node_id, epoch, account_id, source, day, amount)
				SELECT '${NODE.id}', ${NODE.epoch}, account_id, source, day, ${part} FROM budgets WHERE ${budget}
				ON CONFLICT (node_id, epoch, account_id, source, day) DO UPDATE SET amount = leases.amount + excluded.amount`,
			`UPDATE budgets SET leased = (SELECT amount FROM leases WHERE leases.account_id = budgets.account_id
				AND leases.source = budgets.source AND leases.day = budgets.day) WHERE ${budget}`,
		];
	}

	groups(): ReadGroup[] {
		const random = this.#random;
		const hole = random.chance(0.05) ? 1 : 0;
		const again = random.chance(0.1) ? Math.min(2, this.#seq) : 0;
		const first = this.#seq + 1 + hole - again;
		const groups = Array.from({ length: 1 + random.integer(3) }, (_, index): ReadGroup => {
			const records = Array.from({ length: 1 + random.integer(6) }, () => this.#text());
			return { seq: first + index, records, bytes: 0, end: { segment: 1, offset: 0 } };
		});
		if (hole === 0) this.#seq = Math.max(this.#seq, first + groups.length - 1);
		return groups;
	}

	#text(): string {
		const random = this.#random;
		const text = JSON.stringify(this.#record());
		if (random.chance(0.02)) return text.slice(0, random.integer(text.length));
		if (random.chance(0.02))
			return this.#one([
				"null",
				"1",
				"{}",
				'{"t":"post"}',
				'{"t":"nothing"}',
				'{"t":"post","accountId":"acc_rich","priceNano":1}',
			]);
		return text;
	}

	#record(): JournalRecord {
		const random = this.#random;
		const accountId = this.#one(ACCOUNTS);
		const atMs = SAMPLE_DAY * 86_400_000 + random.integer(100) * HOUR_MS;
		const id = requestId(1 + random.integer(this.#requests + 1));
		const named = { accountId, key: this.#one(["a", "b"]), fingerprint: this.#one(["f", "g"]).repeat(64) };
		const claim = { claim: `claim ${random.integer(10)}`, expiresAtMs: atMs + 86_400_000, note: "note" };
		switch (random.integer(14)) {
			case 0:
				return { t: "touch", keyId: `key_${accountId}`, atMs };
			case 1:
				return { t: "unknown-outcome", ...named, ...claim, ends: random.chance(0.5) };
			case 2:
				return { t: "outcome-known", ...named };
			case 3: {
				const ids = { requestId: id, item: random.integer(2), accountId, keyId: null };
				return { t: "send", ...ids, network: "base", method: "eth_sendRawTransaction", rawHash: "0x1", txHash: null, atMs };
			}
			case 4: {
				const txHash = random.chance(0.5) ? "0x2" : null;
				return {
					t: "send-end",
					requestId: id,
					item: random.integer(2),
					outcome: this.#one(["accepted", "-32000"]),
					txHash,
					atMs,
				};
			}
			case 5: {
				const body = { bytes: 2, crc32: 7, body: "e30=", file: null };
				return this.#post(accountId, {
					kept: { key: named.key, fingerprint: named.fingerprint, ...claim, status: 200, ...body },
				});
			}
			default:
				return this.#post(accountId, random.chance(0.3) ? { route: "crypto-rpc", doneAtMs: atMs } : {});
		}
	}

	#post(accountId: string, changes: Partial<PostRecord>): PostRecord {
		const random = this.#random;
		// Some requests come twice.
		const id = requestId(random.chance(0.05) ? 1 + random.integer(this.#requests + 1) : ++this.#requests);
		const lines = Array.from({ length: random.integer(4) }, () => {
			const amount = random.integer(random.chance(0.1) ? 2 * USD : USD / 50);
			return sampleLine(this.#one(["in", "out", "cached"]), amount, pico(random.chance(0.1) ? 0 : 1_000), this.#one(SOURCES));
		});
		const keyId = random.chance(0.5) ? `key_${accountId}` : null;
		const post = samplePost(id, accountId, { day: this.#one(DAYS), keyId, lines, ...changes });
		const owed = random.chance(0.3) ? this.#owing(post) : post;
		return random.chance(0.03) ? { ...owed, priceNano: nano(owed.priceNano + 1) } : owed;
	}

	/** The same post where the node could not pay a part of its first line, or all of it. */
	#owing(post: PostRecord): PostRecord {
		const random = this.#random;
		const [line, ...others] = post.lines;
		const [part] = line?.from ?? [];
		if (line === undefined || part === undefined) return post;
		const owed = 1 + random.integer(part.amount);
		const rest: { source: MoneySource; amount: typeof part.amount }[] =
			part.amount > owed ? [{ source: part.source, amount: nano(part.amount - owed) }] : [];
		const kept = { diem: random.integer(USD), bundled: random.integer(USD), usd: random.integer(USD) };
		const most = { diem: random.integer(2 * USD), usd: random.integer(2 * USD) };
		return { ...post, lines: [{ ...line, from: rest, owed: nano(owed) }, ...others], owing: { kept, most } };
	}

	#one<T>(list: readonly T[]): T {
		return list[this.#random.integer(list.length)] as T;
	}
}

test.each([1, 2, 3, 4])("the journal of seed %p leaves the same rows in SQLite and in PostgreSQL", async (seed) => {
	const stores = [sqliteStore(), await postgresStore()] as const;
	try {
		for (const store of stores) for (const statement of START) await store.run(statement);
		const history = new History(seed);
		for (let batch = 0; batch < BATCHES; batch++) {
			const changes = history.leaseChanges();
			const groups = history.groups();
			const outcome = async (store: Store) => {
				for (const change of changes) await store.run(change);
				const applied = await store.apply(groups).catch((error: Error) => error.name);
				return { batch, applied, rows: await rowsOf(store) };
			};
			expect(await outcome(stores[0])).toEqual(await outcome(stores[1]));
		}
		const { posts, rejected, movements } = (await rowsOf(stores[0])) as Record<string, unknown[]>;
		for (const rows of [posts, rejected, movements]) expect(rows?.length).toBeGreaterThan(10);
	} finally {
		for (const store of stores) await store.close();
	}
});
