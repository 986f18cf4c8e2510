import { Kysely } from "kysely";
import { connect } from "../postgres/connect.ts";
import { BunPostgresDialect } from "../postgres/dialect.ts";
import { migrate } from "../postgres/migrate.ts";
import { isPostgres } from "../postgres/place.ts";
import { BunSqliteDialect } from "../sqlite/dialect.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import type { StoreDb, Tables } from "../tables.ts";

/** The store as the operator's commands see it. */
export interface AdminStore {
	readonly db: StoreDb;
	/** True on PostgreSQL, where several nodes may share it. */
	readonly shared: boolean;
	/** Unix milliseconds. */
	readonly wallMs: () => number;
	close(): Promise<void>;
}

/**
 * Opens a store beside a server that may be running on it, and makes its schema where there is none. `place` is a data
 * folder, or a PostgreSQL address: that one is connected to by the first query, which throws what the connection throws.
 * Throws `SQLiteError` and `StoreTooNewError`.
 */
export function openAdmin(place: string, wallMs: () => number = Date.now): AdminStore {
	const db: StoreDb = new Kysely<Tables>({ dialect: isPostgres(place) ? postgres(place) : sqlite(place) });
	return { db, shared: isPostgres(place), wallMs: wallMs, close: () => db.destroy() };
}

function sqlite(dataDir: string): BunSqliteDialect {
	// A credit that was answered must survive a power cut: no journal brings it again.
	return new BunSqliteDialect(openDatabase(dataDir, { synchronous: "FULL" }));
}

function postgres(url: string): BunPostgresDialect {
	return new BunPostgresDialect(connect(url, { max: ADMIN_CONNECTIONS, name: "turnpike admin" }), (sql) => migrate(sql));
}

/** The commands use one after the other; a console reads several pages at once. */
const ADMIN_CONNECTIONS = 2;
