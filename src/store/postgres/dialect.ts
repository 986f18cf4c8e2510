/** Kysely over Bun's PostgreSQL client, with the guarantees that the operator's functions have on SQLite. */
import type { SQL } from "bun";
import {
	CompiledQuery,
	type DatabaseConnection,
	type DatabaseIntrospector,
	type Dialect,
	type DialectAdapter,
	type Driver,
	type Kysely,
	PostgresAdapter,
	PostgresIntrospector,
	PostgresQueryCompiler,
	type QueryCompiler,
	type QueryResult,
	type TransactionSettings,
} from "kysely";
import { WRITERS_LOCK } from "./locks.ts";
import type { StoreConnection } from "./store-connection.ts";

export class BunPostgresDialect implements Dialect {
	readonly #connection: StoreConnection<SQL>;
	readonly #ready: (sql: SQL) => Promise<void>;

	/**
	 * Takes over the connections: Kysely's `destroy` closes them. `ready` runs once before the first query, and again
	 * where it failed.
	 */
	constructor(connection: StoreConnection<SQL>, ready: (sql: SQL) => Promise<void>) {
		this.#connection = connection;
		this.#ready = ready;
	}

	createDriver(): Driver {
		return new BunPostgresDriver(this.#connection, this.#ready);
	}

	createQueryCompiler(): QueryCompiler {
		return new PostgresQueryCompiler();
	}

	createAdapter(): DialectAdapter {
		return new PostgresAdapter();
	}

	createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
		return new PostgresIntrospector(db);
	}
}

class BunPostgresDriver implements Driver {
	readonly #store: StoreConnection<SQL>;
	readonly #prepare: (sql: SQL) => Promise<void>;
	#ready: Promise<void> | null = null;

	constructor(store: StoreConnection<SQL>, ready: (sql: SQL) => Promise<void>) {
		this.#store = store;
		this.#prepare = ready;
	}

	async init(): Promise<void> {}

	async acquireConnection(): Promise<DatabaseConnection> {
		const sql = await this.#store.open();
		this.#ready ??= this.#prepare(sql).catch((error: unknown) => {
			this.#ready = null;
			throw error;
		});
		await this.#ready;
		return new BunPostgresConnection(await sql.reserve(), this.#store);
	}

	async releaseConnection(connection: DatabaseConnection): Promise<void> {
		if (connection instanceof BunPostgresConnection) await connection.release();
	}

	/**
	 * Serialises writers, as on SQLite: what a transaction read stays true until it commits, and `changes` rows become
	 * visible in the order of their ids. A reader sees one snapshot.
	 */
	async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
		if (settings.accessMode === "read only") {
			await connection.executeQuery(CompiledQuery.raw("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
			return;
		}
		await connection.executeQuery(CompiledQuery.raw("BEGIN"));
		await connection.executeQuery(CompiledQuery.raw(`SELECT pg_advisory_xact_lock(${WRITERS_LOCK})`));
	}

	async commitTransaction(connection: DatabaseConnection): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw("COMMIT"));
	}

	async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw("ROLLBACK"));
	}

	async destroy(): Promise<void> {
		await this.#store.close({});
	}
}

type Reserved = Awaited<ReturnType<SQL["reserve"]>>;

class BunPostgresConnection implements DatabaseConnection {
	readonly #connection: Reserved;
	readonly #store: StoreConnection<SQL>;

	constructor(connection: Reserved, store: StoreConnection<SQL>) {
		this.#connection = connection;
		this.#store = store;
	}

	async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
		const result = await this.#connection.unsafe(query.sql, [...query.parameters]).catch((error: unknown) => {
			this.#store.failed(error);
			throw error;
		});
		const rows = wholeNumbers(result) as R[];
		return { rows, numAffectedRows: BigInt(result.count ?? 0) };
	}

	// biome-ignore lint/correctness/useYield: Kysely's interface has it; nothing here streams.
	async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
		throw new Error("this store does not stream rows");
	}

	async release(): Promise<void> {
		this.#connection.release();
	}
}

type Row = Record<string, unknown>;

const NUMERIC = 1700;
const WHOLE = /^-?\d+$/;

/** Turns sums of `int8`, which are `numeric` and arrive as text, into BigInt where they are whole, as on SQLite. */
function wholeNumbers(result: Iterable<Row> & Pick<SQL.ResultMetadata, "columns">): Row[] {
	const rows = [...result];
	const numeric = (result.columns ?? []).filter((column) => column.type === NUMERIC).map((column) => column.name);
	for (const row of rows) {
		for (const name of numeric) {
			const value = row[name];
			if (typeof value === "string" && WHOLE.test(value)) row[name] = BigInt(value);
		}
	}
	return rows;
}
