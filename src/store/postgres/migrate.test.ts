import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { SQL } from "bun";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { type Migration, StoreTooNewError } from "../core/migration.ts";
import { migrate as migrateSqlite } from "../sqlite/migrate.ts";
import { connect } from "./connect.ts";
import { migrate, schemaNumber } from "./migrate.ts";

let cluster: PostgresCluster;
let sql: SQL;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

beforeEach(async () => {
	sql = connect(await cluster.newDatabase(), { max: 2, name: "test" });
});

afterEach(() => sql.close());

const step = (number: number, text: string): Migration => ({ number, name: `step ${number}`, steps: [text] });

async function faultOf(promise: Promise<unknown>): Promise<Error> {
	return promise.then(
		() => new Error("it did not fail"),
		(error: Error) => error,
	);
}

test("both databases have the same tables, columns and types, besides what several machines need", async () => {
	await migrate(sql);
	const rows = await sql.unsafe(
		"SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = 'public'",
	);
	const postgres = rows.map((row: Record<string, string>) => {
		const type = { bigint: "INTEGER", text: "TEXT", bytea: "BLOB" }[row.data_type ?? ""];
		return `${row.table_name}.${row.column_name} ${type}${row.is_nullable === "NO" ? " NOT NULL" : ""}`;
	});
	const db = new Database(":memory:", { strict: true });
	migrateSqlite(db);
	const sqlite = db
		.query<{ name: string }, []>(
			`SELECT t.name || '.' || c.name || ' ' || c.type || CASE WHEN c."notnull" OR c.pk THEN ' NOT NULL' ELSE '' END AS name
				FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
		)
		.all()
		.map(({ name }) => name);
	const only = (some: readonly string[], others: readonly string[]) => some.filter((column) => !others.includes(column)).sort();
	expect(only(sqlite, postgres)).toEqual([]);
	const tables = new Set(only(postgres, sqlite).map((column) => column.split(".")[0]));
	expect([...tables]).toEqual(["idempotency_bodies", "idempotency_running", "minute_windows", "node_terms", "schema_migrations"]);
});

test("each is applied once, in order, from where the store stands", async () => {
	const first = step(1, "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);");
	await migrate(sql, [first]);
	await migrate(sql, [first, step(2, "UPDATE a SET x = x + 1"), step(3, "UPDATE a SET x = x * 10")]);
	await migrate(sql, [first, step(2, "UPDATE a SET x = 0"), step(3, "UPDATE a SET x = 0")]);
	expect(await schemaNumber(sql)).toBe(3);
	expect([...(await sql.unsafe("SELECT x FROM a"))]).toEqual([{ x: 20n }]);
});

test("one that fails leaves nothing of itself", async () => {
	const broken = step(2, "CREATE TABLE b (x INTEGER); INSERT INTO nowhere VALUES (1);");
	expect((await faultOf(migrate(sql, [step(1, "CREATE TABLE a (x INTEGER)"), broken]))).message).toContain("nowhere");
	expect(await schemaNumber(sql)).toBe(1);
	expect([...(await sql.unsafe("SELECT to_regclass('b') AS b"))]).toEqual([{ b: null }]);
});

test("a program older than the schema refuses the store; a newer one brings it on while the older waits or runs", async () => {
	const first = step(1, "CREATE TABLE a (x INTEGER)");
	const second = step(2, "SELECT pg_sleep(0.2); INSERT INTO a VALUES (1)");
	await Promise.all([migrate(sql, [first]), migrate(sql, [first])]);
	await Promise.all([migrate(sql, [first, second]), migrate(sql, [first, second])]);
	expect([...(await sql.unsafe("SELECT x FROM a"))]).toEqual([{ x: 1n }]);
	expect(await faultOf(migrate(sql, [first]))).toBeInstanceOf(StoreTooNewError);
});

test("rows of the books cannot be changed or deleted, and what is no money is refused", async () => {
	await migrate(sql);
	await sql.unsafe(`INSERT INTO accounts (id, name, tier, created_at) VALUES ('acc_a', 'a', 'paid', 1);
		INSERT INTO budgets (account_id, source, day, balance) VALUES ('acc_a', 'usd', 0, 5);
		INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
			VALUES ('credit', 'issued', 'acc_a', 5, 'usd', 0, 1, 1, 5), ('grant', 'issued', 'acc_a', 5, 'bundled', 0, 1, 1, 5);
		INSERT INTO credits (reference, account_id, amount, movement_id, created_at) VALUES ('r', 'acc_a', 5, 1, 1)`);
	const refused: [string, string][] = [
		["DELETE FROM movements WHERE id = 1", "credits_movement_id_fkey"],
		["DELETE FROM movements WHERE id = 2", "movements are never deleted"],
		["UPDATE movements SET amount = 1", "movements are never changed"],
		["TRUNCATE credits", "credits are never deleted"],
		["UPDATE credits SET amount = 1", "credits are never changed"],
		["UPDATE budgets SET balance = -1", "budgets_balance_check"],
		["UPDATE budgets SET leased = 6", "budgets_check"],
		["UPDATE budgets SET balance = 4000000000000001", "budgets_balance_check"],
		["INSERT INTO budgets (account_id, source, day, balance) VALUES ('acc_a', 'usd', 1, 5)", "check"],
	];
	for (const [statement, text] of refused) expect((await faultOf(sql.unsafe(statement))).message).toContain(text);
});
