/** Numbered migrations of the SQLite store. PostgreSQL gets a set of its own under the same numbers and names. */
import type { Database } from "bun:sqlite";
import { type Migration, StoreTooNewError } from "../core/migration.ts";
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

export const SQLITE_MIGRATIONS: readonly Migration[] = [
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
 * Brings the schema to the newest number, one transaction per migration; processes that start together wait for each
 * other. Throws `StoreTooNewError`.
 */
export function migrate(db: Database, migrations: readonly Migration[] = SQLITE_MIGRATIONS): void {
	const newest = migrations.at(-1)?.number ?? 0;
	for (;;) {
		const current = schemaNumber(db);
		if (current > newest) throw new StoreTooNewError(current, newest);
		if (current === newest) return;
		const next = migrations.find((migration) => migration.number === current + 1);
		if (next === undefined) throw new Error(`there is no migration from schema ${current}`);
		db.transaction(() => {
			if (schemaNumber(db) !== current) return;
			db.run(next.sql);
			db.run(`PRAGMA user_version = ${next.number}`);
		}).immediate();
	}
}

export function schemaNumber(db: Database): number {
	const row = db.query<{ user_version: bigint }, []>("PRAGMA user_version").get();
	return Number(row?.user_version ?? 0);
}
