import { SQL } from "bun";

export interface ConnectOptions {
	/** Most connections. */
	readonly max: number;
	/** Shown in `pg_stat_activity`. */
	readonly name: string;
	/** The server ends a statement that takes longer; 0 is no limit. */
	readonly statementTimeoutMs?: number;
	/** Called for each connection that closes, or that cannot be opened. */
	readonly onClose?: () => void;
}

/** Seconds until an unresponsive server counts as down. */
const CONNECT_SECONDS = 5;

/**
 * Returns a pool of connections to one server of the store (`primary.ts` finds it); the first use opens one. `int8` is read as BigInt, since
 * sums can pass 2^53.
 */
export function connect(url: string, options: ConnectOptions): SQL {
	return new SQL(url, {
		max: options.max,
		bigint: true,
		connectionTimeout: CONNECT_SECONDS,
		...(options.onClose === undefined ? {} : { onclose: options.onClose }),
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
 * Runs `work` in one transaction on a connection of its own and returns its result. Any throw rolls everything back;
 * where the connection broke at the commit, the outcome is unknown. `begin` sets the isolation.
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
			// A broken connection has nothing to roll back, and the first error is the cause.
			await connection.unsafe("ROLLBACK").catch(() => {});
			throw error;
		}
	} finally {
		connection.release();
	}
}
