import { systemTimers } from "../../telemetry/clock.ts";
import { connect } from "./connect.ts";
import { schemaNumber } from "./migrate.ts";
import { PrimaryFinder } from "./primary.ts";

/** The oldest release that the store runs on (docs/operating.md). */
const OLDEST_VERSION = 140_000;

/** The facts of a PostgreSQL server that are read before a store is opened on it. */
export interface PostgresServer {
	/** As the server writes it, like `17.4`. */
	readonly version: string;
	readonly isTooOld: boolean;
	/** True where it accepts no writes: a replica, or a role that may only read. */
	readonly isReadOnly: boolean;
	/** True where the role may create tables. */
	readonly mayCreate: boolean;
	/** Number of the store's schema; 0 where there is none. */
	readonly schema: number;
	readonly user: string;
	readonly schemaName: string;
}

/**
 * Reads these facts from the server at `place`; of several hosts, from the primary. Throws errors of the connection, and
 * of `PrimaryFinder.find`.
 */
export async function readPostgresServer(place: string): Promise<PostgresServer> {
	const sql = connect(await new PrimaryFinder(place, systemTimers).find(), { max: 1, name: "turnpike admin" });
	try {
		const [row] = await sql.unsafe(`
			SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
				current_setting('transaction_read_only') AS read_only, current_user::text AS user_name,
				coalesce(current_schema()::text, 'public') AS schema_name,
				coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create`);
		return {
			version: row.version,
			isTooOld: Number(row.number) < OLDEST_VERSION,
			isReadOnly: row.read_only === "on",
			mayCreate: row.may_create,
			schema: await schemaNumber(sql),
			user: row.user_name,
			schemaName: row.schema_name,
		};
	} finally {
		await sql.close();
	}
}
