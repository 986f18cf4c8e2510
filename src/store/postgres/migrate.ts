/** Migrates a PostgreSQL store. */
import type { SQL } from "bun";
import { type Migration, StoreTooNewError, statementsOf } from "../core/migration.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { inTransaction } from "./connect.ts";
import { MIGRATIONS_LOCK } from "./locks.ts";

/**
 * Brings the schema to the newest number, one transaction per migration. Nodes that start together wait for each
 * other, and each migration runs once. Throws `StoreTooNewError`: a node older than the schema does not start.
 */
export async function migrate(sql: SQL, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
	const newest = migrations.at(-1)?.number ?? 0;
	for (let current = await schemaNumber(sql); current !== newest; ) {
		current = await inTransaction(sql, async (tx) => {
			await tx.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATIONS_LOCK})`);
			await tx.unsafe("CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL)");
			const schema = await schemaNumber(tx);
			if (schema > newest) throw new StoreTooNewError(schema, newest);
			if (schema === newest) return schema;
			const next = migrations.find((migration) => migration.number === schema + 1);
			if (next === undefined) throw new Error(`there is no migration from schema ${schema}`);
			const statements = statementsOf(next, "postgres");
			if (statements.trim() !== "") await tx.unsafe(statements);
			await tx.unsafe("INSERT INTO schema_migrations (number, name) VALUES ($1, $2)", [next.number, next.name]);
			return next.number;
		});
	}
}

/** Returns the schema's number; 0 for a database without a store. */
export async function schemaNumber(sql: SQL): Promise<number> {
	const [table] = await sql.unsafe("SELECT to_regclass('schema_migrations') IS NOT NULL AS there");
	if (!table.there) return 0;
	const [row] = await sql.unsafe("SELECT coalesce(max(number), 0) AS number FROM schema_migrations");
	return Number(row.number);
}
