import { SQL } from "bun";

export interface ConnectOptions {
	/** Connections at most. */
	readonly max: number;
	/** Shown in `pg_stat_activity`. */
	readonly name: string;
	/** A statement that takes longer is ended by the server; 0 is no limit. */
	readonly statementTimeoutMs?: number;
}

/** Seconds until a server that does not answer counts as down. */
const CONNECT_SECONDS = 5;

/** Connections to the store's PostgreSQL; none is made before it is used. `int8` comes as BigInt: sums can pass 2^53. */
export function connect(url: string, options: ConnectOptions): SQL {
	return new SQL(url, {
		max: options.max,
		bigint: true,
		connectionTimeout: CONNECT_SECONDS,
		connection: {
			application_name: options.name,
			TimeZone: "UTC",
			statement_timeout: options.statementTimeoutMs ?? 0,
			// A client that vanished in a transaction must not keep its locks.
			idle_in_transaction_session_timeout: 10_000,
		},
	});
}

/**
 * Runs `work` in one transaction on a connection of its own and returns what it returns. Whatever throws, nothing is
 * kept; where the connection broke at the commit, nobody knows. `begin` names the isolation.
 */
export async function inTransaction<T>(sql: SQL, work: (tx: SQL) => Promise<T>, begin = "BEGIN"): Promise<T> {
	const connection = await sql.reserve();
	try {
		await connection.unsafe(begin);
		try {
			const result = await work(connection);
			await connection.unsafe("COMMIT");
			return result;
		} catch (error) {
			// On a broken connection there is nothing to roll back, and the first error tells why.
			await connection.unsafe("ROLLBACK").catch(() => {});
			throw error;
		}
	} finally {
		connection.release();
	}
}
