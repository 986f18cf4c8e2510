/** Migrates a SQLite store. */
import type { Database } from "bun:sqlite";
import { type Migration, StoreTooNewError, statementsOf } from "../core/migration.ts";
import { MIGRATIONS } from "../migrations/index.ts";

/**
 * Brings the schema to the newest number, one transaction per migration; processes that start together wait for each
 * other. Throws `StoreTooNewError`.
 */
export function migrate(db: Database, migrations: readonly Migration[] = MIGRATIONS): void {
	const newest = migrations.at(-1)?.number ?? 0;
	for (;;) {
		const current = schemaNumber(db);
		if (current > newest) throw new StoreTooNewError(current, newest);
		if (current === newest) return;
		const next = migrations.find((migration) => migration.number === current + 1);
		if (next === undefined) throw new Error(`there is no migration from schema ${current}`);
		db.transaction(() => {
			if (schemaNumber(db) !== current) return;
			const statements = statementsOf(next, "sqlite");
			if (statements.trim() !== "") db.run(statements);
			db.run(`PRAGMA user_version = ${next.number}`);
		}).immediate();
	}
}

export function schemaNumber(db: Database): number {
	const row = db.query<{ user_version: bigint }, []>("PRAGMA user_version").get();
	return Number(row?.user_version ?? 0);
}
