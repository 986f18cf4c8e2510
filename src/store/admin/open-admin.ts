import { Kysely } from "kysely";
import { systemTimers } from "../../telemetry/clock.ts";
import { BunPostgresDialect } from "../postgres/dialect.ts";
import { migrate } from "../postgres/migrate.ts";
import { isPostgres } from "../postgres/place.ts";
import { PrimaryFinder } from "../postgres/primary.ts";
import { postgresConnection, type Servers } from "../postgres/store-connection.ts";
import { BunSqliteDialect } from "../sqlite/dialect.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import type { StoreDb, Tables } from "../tables.ts";

/** The store as the operator's commands use it. */
export interface AdminStore {
	readonly db: StoreDb;
	/** True on PostgreSQL, where several nodes may share it. */
	readonly shared: boolean;
	/** Unix milliseconds. */
	readonly wallMs: () => number;
	close(): Promise<void>;
}

/**
 * Opens a store, also while a server uses it, and creates its schema where there is none. `place` is a data folder or
 * a PostgreSQL address; the latter connects at the first query, which throws the connection's errors. Throws
 * `SQLiteError` and `StoreTooNewError`.
 */
export function openAdmin(place: string, wallMs: () => number = Date.now): AdminStore {
	if (isPostgres(place)) return openPostgresAdmin(new PrimaryFinder(place, systemTimers), wallMs);
	const db: StoreDb = new Kysely<Tables>({ dialect: sqlite(place) });
	return { db, shared: false, wallMs, close: () => db.destroy() };
}

/** Opens a PostgreSQL store whose primary somebody else looks for, too. */
export function openPostgresAdmin(servers: Servers, wallMs: () => number = Date.now): AdminStore {
	const connection = postgresConnection(servers, { max: ADMIN_CONNECTIONS, name: "turnpike admin" }, systemTimers);
	const db: StoreDb = new Kysely<Tables>({ dialect: new BunPostgresDialect(connection, (sql) => migrate(sql)) });
	return { db, shared: true, wallMs, close: () => db.destroy() };
}

function sqlite(dataDir: string): BunSqliteDialect {
	// An answered credit must survive a power cut: no journal can restore it.
	return new BunSqliteDialect(openDatabase(dataDir, { synchronous: "FULL" }));
}

/** Commands use one connection after the other; a console reads several pages at once. */
const ADMIN_CONNECTIONS = 2;
