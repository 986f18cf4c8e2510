/** Numbered migrations of the PostgreSQL store, under the numbers and names of the SQLite ones. */
import type { SQL } from "bun";
import { type Migration, StoreTooNewError } from "../core/migration.ts";
import { inTransaction } from "./connect.ts";
import { MIGRATIONS_LOCK } from "./locks.ts";
import { books } from "./migrations/0001-books.ts";
import { exceededLimits } from "./migrations/0002-exceeded-limits.ts";
import { debitsAndRefunds } from "./migrations/0003-debits-and-refunds.ts";
import { chainStakes } from "./migrations/0004-chain-stakes.ts";
import { minuteWindows } from "./migrations/0005-minute-windows.ts";
import { chainProxy } from "./migrations/0006-chain-proxy.ts";
import { retention } from "./migrations/0007-retention.ts";
import { wallets } from "./migrations/0008-wallets.ts";
import { topUps } from "./migrations/0009-top-ups.ts";
import { voices } from "./migrations/0010-voices.ts";
import { capLeases } from "./migrations/0011-cap-leases.ts";
import { consoleSessions } from "./migrations/0012-console.ts";
import { upstreamVoices } from "./migrations/0013-upstream-voices.ts";
import { alerts } from "./migrations/0014-alerts.ts";
import { workers } from "./migrations/0015-workers.ts";

export const POSTGRES_MIGRATIONS: readonly Migration[] = [
	books,
	exceededLimits,
	debitsAndRefunds,
	chainStakes,
	minuteWindows,
	chainProxy,
	retention,
	wallets,
	topUps,
	voices,
	capLeases,
	consoleSessions,
	upstreamVoices,
	alerts,
	workers,
];

/**
 * Brings the schema to the newest number, one transaction per migration. Nodes that start together wait for each
 * other, and each migration runs once. Throws `StoreTooNewError`: a node older than the schema does not start.
 */
export async function migrate(sql: SQL, migrations: readonly Migration[] = POSTGRES_MIGRATIONS): Promise<void> {
	const newest = migrations.at(-1)?.number ?? 0;
	for (let current = await schemaNumber(sql); current !== newest; ) {
		current = await inTransaction(sql, async (tx) => {
			await tx.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATIONS_LOCK})`);
			await tx.unsafe("CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL)");
			const found = await schemaNumber(tx);
			if (found > newest) throw new StoreTooNewError(found, newest);
			if (found === newest) return found;
			const next = migrations.find((migration) => migration.number === found + 1);
			if (next === undefined) throw new Error(`there is no migration from schema ${found}`);
			await tx.unsafe(next.sql);
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
