/** Kysely over bun:sqlite: one connection, one user at a time, so that a transaction is never mixed with another call. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import {
	CompiledQuery,
	type DatabaseConnection,
	type DatabaseIntrospector,
	type Dialect,
	type DialectAdapter,
	type Driver,
	type Kysely,
	type QueryCompiler,
	type QueryResult,
	SqliteAdapter,
	SqliteIntrospector,
	SqliteQueryCompiler,
	type TransactionSettings,
} from "kysely";

export class BunSqliteDialect implements Dialect {
	readonly #db: Database;

	/** Takes over the database: Kysely's `destroy` closes it. */
	constructor(db: Database) {
		this.#db = db;
	}

	createDriver(): Driver {
		return new BunSqliteDriver(this.#db);
	}

	createQueryCompiler(): QueryCompiler {
		return new SqliteQueryCompiler();
	}

	createAdapter(): DialectAdapter {
		return new SqliteAdapter();
	}

	createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
		return new SqliteIntrospector(db);
	}
}

class BunSqliteDriver implements Driver {
	readonly #db: Database;
	readonly #connection: BunSqliteConnection;
	#tail: Promise<void> = Promise.resolve();
	#release: () => void = () => {};

	constructor(db: Database) {
		this.#db = db;
		this.#connection = new BunSqliteConnection(db);
	}

	async init(): Promise<void> {}

	async acquireConnection(): Promise<DatabaseConnection> {
		const before = this.#tail;
		let release = () => {};
		this.#tail = new Promise((resolve) => {
			release = resolve;
		});
		await before;
		this.#release = release;
		return this.#connection;
	}

	async releaseConnection(): Promise<void> {
		this.#release();
	}

	/** A writing transaction takes the write lock at once: one that only reads first could not get it later. */
	async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw(settings.accessMode === "read only" ? "BEGIN" : "BEGIN IMMEDIATE"));
	}

	async commitTransaction(connection: DatabaseConnection): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw("COMMIT"));
	}

	async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
		if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw("ROLLBACK"));
	}

	async destroy(): Promise<void> {
		this.#db.close();
	}
}

class BunSqliteConnection implements DatabaseConnection {
	readonly #db: Database;

	constructor(db: Database) {
		this.#db = db;
	}

	async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
		const statement = this.#db.query<R, SQLQueryBindings[]>(query.sql);
		const parameters = query.parameters as SQLQueryBindings[];
		if (statement.columnNames.length > 0) return { rows: statement.all(...parameters) };
		const { changes, lastInsertRowid } = statement.run(...parameters);
		return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
	}

	async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
		const statement = this.#db.prepare<R, SQLQueryBindings[]>(query.sql);
		try {
			for (const row of statement.iterate(...(query.parameters as SQLQueryBindings[]))) yield { rows: [row] };
		} finally {
			statement.finalize();
		}
	}
}
